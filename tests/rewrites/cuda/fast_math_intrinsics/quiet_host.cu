// Only the host calls expf.
#include <math.h>

__global__ void scale(const float* x, float* y, float s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = s * x[i];
}

extern "C" void solve(const float* x, float* y, int n) {
  scale<<<(n + 127) / 128, 128>>>(x, y, expf(0.5f), n);
}
