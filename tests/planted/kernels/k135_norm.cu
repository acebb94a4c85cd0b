// Centres rows of 1024 floats kept in shared memory. The buffer is sized for the largest row ever
// supported (160 KB); fixed: for the row at hand (4 KB).
#include "common.cuh"

extern __shared__ float4 row[];

__device__ __forceinline__ void norm(const float4* in, float4* out) {
  __shared__ float scratch[32];
  __shared__ float mean;
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  float4 v = in[i];
  row[threadIdx.x] = v;
  float s = block_sum((v.x + v.y) + (v.z + v.w), scratch);
  if (threadIdx.x == 0) mean = s * (1.f / 1024.f);
  __syncthreads();
  float m = mean;
  v = row[threadIdx.x];
  out[i] = make_float4(v.x - m, v.y - m, v.z - m, v.w - m);
}

extern "C" __global__ void __launch_bounds__(256)
k135_norm(const float4* __restrict__ in, float4* __restrict__ out) { norm(in, out); }
extern "C" __global__ void __launch_bounds__(256)
k135_norm_b(const float4* __restrict__ in, float4* __restrict__ out) { norm(in, out); }

extern "C" int k135_run(void* in, void* out, i64 rows, cudaStream_t s) {
  cudaFuncSetAttribute(k135_norm, cudaFuncAttributeMaxDynamicSharedMemorySize, 160 * 1024);
  k135_norm<<<(unsigned)rows, 256, 160 * 1024, s>>>((const float4*)in, (float4*)out);
  return launched();
}
extern "C" int k135_fixed(void* in, void* out, i64 rows, cudaStream_t s) {
  k135_norm_b<<<(unsigned)rows, 256, 4096, s>>>((const float4*)in, (float4*)out);
  return launched();
}
