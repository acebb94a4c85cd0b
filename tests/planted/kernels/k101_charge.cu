// Reads one field of a 64-byte particle record. Fixed: the field in its own array.
#include "common.cuh"

struct Particle {
  float charge, mass, px, py, pz, vx, vy, vz, fx, fy, fz, pad[5];
};

extern "C" __global__ void __launch_bounds__(256)
k101_charge(const Particle* __restrict__ p, float* __restrict__ out, float scale, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) out[i] = p[i].charge * scale;
}

extern "C" __global__ void __launch_bounds__(256)
k101_charge_b(const float* __restrict__ charge, float* __restrict__ out, float scale, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) out[i] = charge[i] * scale;
}

extern "C" int k101_run(void* p, void*, void* out, i64 n, cudaStream_t s) {
  k101_charge<<<blocks_for(n, 256), 256, 0, s>>>((const Particle*)p, (float*)out, 1.5f, n);
  return launched();
}
extern "C" int k101_fixed(void*, void* charge, void* out, i64 n, cudaStream_t s) {
  k101_charge_b<<<blocks_for(n, 256), 256, 0, s>>>((const float*)charge, (float*)out, 1.5f, n);
  return launched();
}
