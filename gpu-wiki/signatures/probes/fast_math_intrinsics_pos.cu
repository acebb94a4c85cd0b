// Approximate exponential and sine straight from the special-function unit.
extern "C" __global__ void damped(float* out, const float* in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = __expf(-in[i]) * __sinf(in[i]);
    }
}
