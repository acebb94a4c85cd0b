// A copy with streaming hints: as fast as memory allows, and no faster.
#include <cuda_runtime.h>

__global__ void copy(const float4* x, float4* out, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    __stcs(out + i, __ldcs(x + i));
}

extern "C" void solve(const float* x, float* out, int rows, int cols) {
  copy<<<132 * 16, 256>>>(reinterpret_cast<const float4*>(x), reinterpret_cast<float4*>(out),
                          rows * cols / 4);
}
