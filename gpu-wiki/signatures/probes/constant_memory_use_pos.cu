// Coefficients that all lanes read alike come from the constant bank.
__constant__ float coefficient[64];
extern "C" __global__ void filter(float* out, const float* in, int taps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < taps; ++t) {
        sum = fmaf(coefficient[t], in[i + t], sum);
    }
    out[i] = sum;
}
