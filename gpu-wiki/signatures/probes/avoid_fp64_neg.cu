// Two literals without the suffix f turn the whole expression into double precision.
extern "C" __global__ void avoid_fp64_float_only(float* out, const float* in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] * 0.7071 + 0.1;
    }
}
