// rsqrtf and exp2f with default flags: the special-function unit is their accurate form.
extern "C" __global__ void fast_math_use_fast_math(float* out, const float* in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = rsqrtf(in[i]) + exp2f(in[i]);
    }
}
