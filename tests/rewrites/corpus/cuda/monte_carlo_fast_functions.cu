// A function of special functions, integrated by threads.
#include <math.h>

__device__ float integrand(float x) { return expf(-x * x) * cosf(3.0f * x) + logf(1.0f + x); }

__global__ void integrate(const float* points, float* values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    values[i] = powf(fabsf(integrand(points[i])), 0.25f);
  }
}

extern "C" void solve(const float* points, float* values, int n) {
  int block = 128;
  int grid = (n + block - 1) / block;
  integrate<<<grid, block>>>(points, values, n);
}
