// Writes 16 elements per thread and then a done flag per block, with a device-wide fence after
// every element. Fixed: one fence before the flag.
#include "common.cuh"

template <bool EACH>
__device__ __forceinline__ void publish(const float* in, float* out, int* done) {
  i64 base = blockIdx.x * 4096ll + threadIdx.x;
#pragma unroll 4
  for (int k = 0; k < 16; ++k) {
    out[base + 256 * k] = fmaf(in[base + 256 * k], 0.5f, 1.f);
    if (EACH) __threadfence();
  }
  if (!EACH) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) done[blockIdx.x] = 1;
}

extern "C" __global__ void __launch_bounds__(256)
k127_publish(const float* __restrict__ in, float* __restrict__ out, int* __restrict__ done) {
  publish<true>(in, out, done);
}
extern "C" __global__ void __launch_bounds__(256)
k127_publish_b(const float* __restrict__ in, float* __restrict__ out, int* __restrict__ done) {
  publish<false>(in, out, done);
}

extern "C" int k127_run(void* in, void* out, void* done, i64 n, cudaStream_t s) {
  k127_publish<<<(unsigned)(n / 4096), 256, 0, s>>>((const float*)in, (float*)out, (int*)done);
  return launched();
}
extern "C" int k127_fixed(void* in, void* out, void* done, i64 n, cudaStream_t s) {
  k127_publish_b<<<(unsigned)(n / 4096), 256, 0, s>>>((const float*)in, (float*)out, (int*)done);
  return launched();
}
