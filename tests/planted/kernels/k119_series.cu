// Double-precision polynomial of degree 96 that keeps a running power. Fixed: Horner's rule.
#include "common.cuh"

constexpr int DEG = 96;
__device__ __forceinline__ double coef(int k) { return 1.0 / (1.0 + k * 0.5); }

extern "C" __global__ void __launch_bounds__(256)
k119_series(const double2* __restrict__ in, double2* __restrict__ out, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= n) return;
  double2 x = in[i];
  double px = 1.0, py = 1.0, ax = 0.0, ay = 0.0;
#pragma unroll
  for (int k = 0; k <= DEG; ++k) {
    ax = fma(coef(k), px, ax);
    ay = fma(coef(k), py, ay);
    px = __dmul_rn(px, x.x);
    py = __dmul_rn(py, x.y);
  }
  out[i] = make_double2(ax, ay);
}
extern "C" __global__ void __launch_bounds__(256)
k119_series_b(const double2* __restrict__ in, double2* __restrict__ out, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= n) return;
  double2 x = in[i];
  double ax = coef(DEG), ay = coef(DEG);
#pragma unroll
  for (int k = DEG - 1; k >= 0; --k) {
    ax = fma(ax, x.x, coef(k));
    ay = fma(ay, x.y, coef(k));
  }
  out[i] = make_double2(ax, ay);
}

extern "C" int k119_run(void* in, void* out, i64 n, cudaStream_t s) {
  k119_series<<<blocks_for(n / 2, 256), 256, 0, s>>>((const double2*)in, (double2*)out, n / 2);
  return launched();
}
extern "C" int k119_fixed(void* in, void* out, i64 n, cudaStream_t s) {
  k119_series_b<<<blocks_for(n / 2, 256), 256, 0, s>>>((const double2*)in, (double2*)out, n / 2);
  return launched();
}
