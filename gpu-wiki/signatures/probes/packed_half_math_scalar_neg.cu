// One half value per instruction: the same mnemonic with half selectors, at half the work per issue slot.
#include <cuda_fp16.h>
extern "C" __global__ void packed_half2_HFMA2(half* y, const half* x, half a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = __hfma(a, x[i], y[i]);
    }
}
