// Embedding rows of 32 floats gathered by index, one 32-thread block per row. Fixed: eight rows
// per block, a warp each.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(32)
k136_embed(const int* __restrict__ idx, const float* __restrict__ table, float* __restrict__ out) {
  i64 r = blockIdx.x;
  out[r * 32 + threadIdx.x] = table[(i64)idx[r] * 32 + threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(256)
k136_embed_b(const int* __restrict__ idx, const float* __restrict__ table, float* __restrict__ out) {
  i64 r = blockIdx.x * 8ll + (threadIdx.x >> 5);
  int lane = threadIdx.x & 31;
  out[r * 32 + lane] = table[(i64)idx[r] * 32 + lane];
}

extern "C" int k136_run(void* idx, void* table, void* out, i64 rows, cudaStream_t s) {
  k136_embed<<<(unsigned)rows, 32, 0, s>>>((const int*)idx, (const float*)table, (float*)out);
  return launched();
}
extern "C" int k136_fixed(void* idx, void* table, void* out, i64 rows, cudaStream_t s) {
  k136_embed_b<<<(unsigned)(rows / 8), 256, 0, s>>>((const int*)idx, (const float*)table, (float*)out);
  return launched();
}
