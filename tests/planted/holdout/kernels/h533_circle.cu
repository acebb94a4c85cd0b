#include <cuda_runtime.h>

constexpr int CHAINS = 8, STEPS = 1024;

// Eight "magic circle" oscillators per thread, two multiply-adds a step.
__global__ void __launch_bounds__(256) h533_circle(const float4* __restrict__ in,
                                                   float4* __restrict__ out) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, n = (size_t)gridDim.x * blockDim.x;
    float4 low = in[i], high = in[n + i];
    float c[CHAINS] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    float s[CHAINS] = {};
    const float k = 0.037f;
#pragma unroll 16
    for (int t = 0; t < STEPS; ++t) {
#pragma unroll
        for (int u = 0; u < CHAINS; ++u) c[u] = fmaf(-k, s[u], c[u]);
#pragma unroll
        for (int u = 0; u < CHAINS; ++u) s[u] = fmaf(k, c[u], s[u]);
    }
    out[i] = make_float4(c[0], c[1], c[2], c[3]);
    out[n + i] = make_float4(c[4], c[5], c[6], c[7]);
}

extern "C" int h533_run(const float4* in, float4* out, long long threads, cudaStream_t stream) {
    h533_circle<<<threads / 256, 256, 0, stream>>>(in, out);
    return cudaGetLastError();
}
