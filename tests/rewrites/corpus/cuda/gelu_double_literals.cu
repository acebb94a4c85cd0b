// GELU with constants in double by oversight.
#include <cuda_runtime.h>
#include <math.h>

__global__ void gelu(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v = in[i];
    float inner = 0.7978845608 * (v + 0.044715 * v * v * v);
    out[i] = 0.5 * v * (1.0 + tanhf(inner));
  }
}

extern "C" void solve(const float* in, float* out, int n) {
  gelu<<<(n + 255) / 256, 256>>>(in, out, n);
}
