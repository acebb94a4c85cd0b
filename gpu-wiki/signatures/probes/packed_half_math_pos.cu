// Two half values per instruction, from memory to memory.
#include <cuda_fp16.h>
extern "C" __global__ void axpy(half2* y, const half2* x, half2 a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = __hfma2(a, x[i], y[i]);
    }
}
