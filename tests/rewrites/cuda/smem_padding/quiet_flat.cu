// The tile is read as one long array as well.
__global__ void flip(const float* x, float* y, int n) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = x[(blockIdx.y * 32 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  float* flat = &tile[0][0];
  if (flat[0] < 0.0f) return;
  y[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" void solve(const float* x, float* y, int n) {
  dim3 block(32, 32);
  dim3 grid(n / 32, n / 32);
  flip<<<grid, block>>>(x, y, n);
}
