// A reciprocal root in two operations, in a helper and a kernel.
#include <math.h>

__device__ float inverse(float v) { return 1.0f / sqrtf(v + 1e-6f); }

__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = inverse(x[i]) * (1.0f / sqrtf(fmaxf(x[i], 1.0f)));
}

extern "C" void solve(const float* x, float* y, int n) { scale<<<(n + 127) / 128, 128>>>(x, y, n); }
