#include <cuda_runtime.h>

constexpr int PARTIALS = 256, FRAME = 1024, RUN = 16;

__device__ void fetch(const float4* partial, float4* s) {
    for (int k = threadIdx.x; k < PARTIALS; k += blockDim.x) {
        s[k] = partial[k];
        s[k].y += 0.001f * blockIdx.x;
    }
    __syncthreads();
}

// Additive synthesis: out[frame][t] = sum over k of a_k cos(w_k t + phase_k); (w, phase, a, -).
__global__ void h516_synth(const float4* __restrict__ partial, float* __restrict__ out) {
    __shared__ float4 s[PARTIALS];
    fetch(partial, s);
    float sum[4] = {};
#pragma unroll 4
    for (int k = 0; k < PARTIALS; ++k) {
        float4 p = s[k];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            float t = threadIdx.x + i * 256;
            sum[i] += p.z * __cosf(p.x * t + p.y);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
        out[(size_t)blockIdx.x * FRAME + i * 256 + threadIdx.x] = sum[i];
}

// Three cosines start a run of 16 neighbours; the recurrence
// cos(x + 2w) = 2 cos(w) cos(x + w) - cos(x) gives the rest.
__global__ void h516_synth_b(const float4* __restrict__ partial, float* __restrict__ out) {
    __shared__ float4 s[PARTIALS];
    fetch(partial, s);
    float sum[RUN] = {}, t = threadIdx.x * RUN;
    for (int k = 0; k < PARTIALS; ++k) {
        float4 p = s[k];
        float now = p.z * __cosf(p.x * t + p.y), next = p.z * __cosf(p.x * (t + 1.f) + p.y);
        float twice = 2.f * __cosf(p.x);
#pragma unroll
        for (int i = 0; i < RUN; ++i) {
            sum[i] += now;
            float later = twice * next - now;
            now = next;
            next = later;
        }
    }
    float4* mine = (float4*)(out + (size_t)blockIdx.x * FRAME + threadIdx.x * RUN);
#pragma unroll
    for (int i = 0; i < RUN / 4; ++i)
        mine[i] = make_float4(sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]);
}

extern "C" int h516_run(const float4* partial, float* out, long long frames, cudaStream_t stream) {
    h516_synth<<<frames, FRAME / 4, 0, stream>>>(partial, out);
    return cudaGetLastError();
}

extern "C" int h516_fixed(const float4* partial, float* out, long long frames,
                          cudaStream_t stream) {
    h516_synth_b<<<frames, FRAME / RUN, 0, stream>>>(partial, out);
    return cudaGetLastError();
}
