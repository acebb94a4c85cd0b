// The only array is written.
__global__ void grow(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1.0f;
}

extern "C" void solve(float* x, int n) { grow<<<(n + 127) / 128, 128>>>(x, n); }
