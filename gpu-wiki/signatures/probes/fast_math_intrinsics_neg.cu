// The accurate expf and an IEEE division: MUFU appears, surrounded by range reduction and correction.
extern "C" __global__ void fast_math_MUFU_EX2(float* out, const float* in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 1.0f / (1.0f + expf(-in[i]));
    }
}
