// Recursive smoothing of runs of 8 samples, forward and backward, several sweeps, each thread
// owning 8 neighbours in shared memory. Fixed: one word of padding per 8 words.
#include "common.cuh"

template <bool PAD>
__device__ __forceinline__ int at(int i) { return PAD ? i + (i >> 3) : i; }

template <bool PAD>
__device__ __forceinline__ void smooth(const float* in, float* out, int sweeps, float* sh) {
  const i64 base = blockIdx.x * 2048ll;
  const int t = threadIdx.x;
#pragma unroll
  for (int k = 0; k < 8; ++k) sh[at<PAD>(k * 256 + t)] = in[base + k * 256 + t];
  __syncthreads();
  float* mine = sh + at<PAD>(t * 8);
  for (int s = 0; s < sweeps; ++s) {
    float c = 0.f;
#pragma unroll 1
    for (int k = 0; k < 8; ++k) mine[k] = c = 0.5f * (c + mine[k]);
#pragma unroll 1
    for (int k = 7; k >= 0; --k) mine[k] = c = 0.5f * (c + mine[k]);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 8; ++k) out[base + k * 256 + t] = sh[at<PAD>(k * 256 + t)];
}

extern "C" __global__ void __launch_bounds__(256)
k108_smooth(const float* __restrict__ in, float* __restrict__ out, int sweeps) {
  __shared__ float sh[2048];
  smooth<false>(in, out, sweeps, sh);
}
extern "C" __global__ void __launch_bounds__(256)
k108_smooth_b(const float* __restrict__ in, float* __restrict__ out, int sweeps) {
  __shared__ float sh[2048 + 256];
  smooth<true>(in, out, sweeps, sh);
}

extern "C" int k108_run(void* in, void* out, i64 n, i64 sweeps, cudaStream_t s) {
  k108_smooth<<<blocks_for(n, 2048), 256, 0, s>>>((const float*)in, (float*)out, (int)sweeps);
  return launched();
}
extern "C" int k108_fixed(void* in, void* out, i64 n, i64 sweeps, cudaStream_t s) {
  k108_smooth_b<<<blocks_for(n, 2048), 256, 0, s>>>((const float*)in, (float*)out, (int)sweeps);
  return launched();
}
