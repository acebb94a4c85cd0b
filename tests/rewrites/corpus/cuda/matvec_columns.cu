// Matrix times vector; the tile is read by columns.
#define T 32

__global__ void matvec(const float* a, const float* x, float* y, int n) {
  __shared__ float tile[T][T];
  float sum = 0.0f;
  for (int c = 0; c < n; c += T) {
    for (int r = 0; r < T; ++r) {
      tile[r][threadIdx.x] = a[(blockIdx.x * T + r) * n + c + threadIdx.x];
    }
    __syncthreads();
    for (int k = 0; k < T; ++k) {
      sum += tile[threadIdx.x][k] * x[c + k];
    }
    __syncthreads();
  }
  y[blockIdx.x * T + threadIdx.x] = sum;
}

extern "C" void solve(const float* a, const float* x, float* y, int n) { matvec<<<n / T, T>>>(a, x, y, n); }
