// Thirty-two values live in registers, all indices known at compile time.
extern "C" __global__ void __launch_bounds__(256) keep_in_registers(float* out, const float* in)
{
    float v[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) {
        v[i] = in[i * 256 + threadIdx.x];
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 32; ++i) {
        sum += v[i] * v[31 - i];
    }
    out[threadIdx.x] = sum;
}
