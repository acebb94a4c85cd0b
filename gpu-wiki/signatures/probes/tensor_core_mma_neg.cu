// Half-precision inputs, half2 arithmetic (spelled HFMA2.MMA on some targets) and FP32 FMA: no matrix unit.
#include <cuda_fp16.h>
extern "C" __global__ void tensor_core_HMMA_mma_sync(float* c, const half2* a, const half2* b, int k)
{
    const int row = blockIdx.x;
    const int col = threadIdx.x;
    float sum = 0;
    half2 pair = __float2half2_rn(0.0f);
    for (int i = 0; i < k; ++i) {
        const half2 x = a[row * k + i];
        const half2 y = b[col * k + i];
        pair = __hfma2(x, y, pair);
        sum += __low2float(x) * __high2float(y);
    }
    c[row * blockDim.x + col] = sum + __low2float(pair) + __high2float(pair);
}
