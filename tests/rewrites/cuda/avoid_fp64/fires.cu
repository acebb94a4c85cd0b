// A literal and an accumulator in double, all arrays in float.
__global__ void mean(const float* x, float* y, int n) {
  double sum = 0.0;
  for (int c = threadIdx.x; c < n; c += 32) sum += 0.5 * x[c];
  y[threadIdx.x] = sum / n;
}

extern "C" void solve(const float* x, float* y, int n) { mean<<<1, 32>>>(x, y, n); }
