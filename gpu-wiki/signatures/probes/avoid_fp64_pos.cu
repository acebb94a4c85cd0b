// Float literals keep the expression in single precision.
extern "C" __global__ void scale(float* out, const float* in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] * 0.7071f + 0.1f;
    }
}
