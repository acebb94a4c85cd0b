// A copy that would be faster than memory if its buffers were still in L2.
#include <cuda_runtime.h>

__global__ void copy(const float4* x, float4* out, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    out[i] = x[i];
}

extern "C" void solve(const float* x, float* out, int rows, int cols) {
  copy<<<132 * 8, 256>>>(reinterpret_cast<const float4*>(x), reinterpret_cast<float4*>(out),
                         rows * cols / 4);
}
