// 256 weights in constant memory, one per 128-byte parameter record (32 KB).
// Fixed: the weights packed (1 KB).
#include "common.cuh"

constexpr int NC = 256;
struct Param { float c, rest[31]; };
__constant__ Param k130_records[NC];
__constant__ float k130_packed[NC];

extern "C" __global__ void __launch_bounds__(256)
k130_params(const float* __restrict__ in, float* __restrict__ out) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  float x = in[i], a = 0.f, p = 1.f;
#pragma unroll
  for (int k = 0; k < NC; ++k) {
    a = fmaf(p, k130_records[k].c, a);
    p = fmaf(p, x, 0.01f);
  }
  out[i] = a;
}

extern "C" __global__ void __launch_bounds__(256)
k130_params_b(const float* __restrict__ in, float* __restrict__ out) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  float x = in[i], a = 0.f, p = 1.f;
#pragma unroll
  for (int k = 0; k < NC; ++k) {
    a = fmaf(p, k130_packed[k], a);
    p = fmaf(p, x, 0.01f);
  }
  out[i] = a;
}

static void upload() {
  static bool done = false;
  if (done) return;
  static Param records[NC] = {};
  static float packed[NC];
  for (int k = 0; k < NC; ++k) records[k].c = packed[k] = 1.f / (1.f + k % 17);
  cudaMemcpyToSymbol(k130_records, records, sizeof(records));
  cudaMemcpyToSymbol(k130_packed, packed, sizeof(packed));
  done = true;
}

extern "C" int k130_run(void* in, void* out, i64 n, cudaStream_t s) {
  upload();
  k130_params<<<(unsigned)(n / 256), 256, 0, s>>>((const float*)in, (float*)out);
  return launched();
}
extern "C" int k130_fixed(void* in, void* out, i64 n, cudaStream_t s) {
  upload();
  k130_params_b<<<(unsigned)(n / 256), 256, 0, s>>>((const float*)in, (float*)out);
  return launched();
}
