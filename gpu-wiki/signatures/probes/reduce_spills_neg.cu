// Launch bounds that promise much occupancy leave 32 registers for about 100 live values.
extern "C" __global__ void __launch_bounds__(1024, 1) reduce_spills(float* out, const float* in, int n)
{
    float v[112];
#pragma unroll
    for (int i = 0; i < 112; ++i) {
        v[i] = in[i * 1024 + threadIdx.x];
    }
    for (int k = 0; k < n; ++k) {
#pragma unroll
        for (int i = 0; i < 112; ++i) {
            v[i] = v[i] * v[(i + 37) % 112] + in[k];
        }
    }
#pragma unroll
    for (int i = 0; i < 112; ++i) {
        out[i * 1024 + threadIdx.x] = v[i];
    }
}
