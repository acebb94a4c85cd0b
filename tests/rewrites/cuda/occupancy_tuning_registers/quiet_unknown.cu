// The number of threads is chosen at run time.
__global__ void row_sums(const float* x, float* y, int n) {
  float sum = 0.0f;
  for (int c = 0; c < n; ++c) sum += x[threadIdx.x * n + c];
  y[threadIdx.x] = sum;
}

extern "C" void solve(const float* x, float* y, int rows, int n) { row_sums<<<1, rows>>>(x, y, n); }
