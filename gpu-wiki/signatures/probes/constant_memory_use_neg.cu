// Uniform coefficients through the read-only path: kernel arguments use the constant bank, the data does not.
extern "C" __global__ void constant_memory_coefficients(float* __restrict__ out, const float* __restrict__ in, const float* __restrict__ coefficient, int taps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < taps; ++t) {
        sum = fmaf(coefficient[t], in[i + t], sum);
    }
    out[i] = sum;
}
