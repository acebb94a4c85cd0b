// Half storage, float arithmetic: conversions print HADD2.F32 and constants may print HFMA2.MMA with RZ sources.
#include <cuda_fp16.h>
extern "C" __global__ void packed_half2_HFMA2(half2* y, const half2* x, float a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float2 u = __half22float2(x[i]);
        const float2 v = __half22float2(y[i]);
        y[i] = __floats2half2_rn(a * u.x + v.x + 5.9604644775390625e-08f, a * u.y + v.y + 1.0f);
    }
}
