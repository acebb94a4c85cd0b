#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int D = 128, WARPS = 8, KEYS = 4;

__device__ float4 unpack(uint2 raw) {
    float2 a = __half22float2(*(half2*)&raw.x), b = __half22float2(*(half2*)&raw.y);
    return make_float4(a.x, a.y, b.x, b.y);
}

// Online softmax over the keys [begin, end) of one head; lane owns four dimensions.
// part holds D weighted values, then the maximum and the sum of weights.
__device__ void walk(const float* q, const __half* k, const __half* v, int begin, int end,
                     float* part) {
    __shared__ float merged[WARPS][D + 2];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float4 query = ((const float4*)q)[lane], acc = make_float4(0, 0, 0, 0);
    float top = -1e30f, total = 0.f;
    for (int j = begin + warp * KEYS; j < end; j += WARPS * KEYS) {
        uint2 kk[KEYS], vv[KEYS];
#pragma unroll
        for (int u = 0; u < KEYS; ++u) {
            kk[u] = ((const uint2*)(k + (size_t)(j + u) * D))[lane];
            vv[u] = ((const uint2*)(v + (size_t)(j + u) * D))[lane];
        }
#pragma unroll
        for (int u = 0; u < KEYS; ++u) {
            float4 key = unpack(kk[u]), value = unpack(vv[u]);
            float s = query.x * key.x + query.y * key.y + query.z * key.z + query.w * key.w;
            for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
            float next = fmaxf(top, s), keep = __expf(top - next), w = __expf(s - next);
            acc.x = acc.x * keep + w * value.x;
            acc.y = acc.y * keep + w * value.y;
            acc.z = acc.z * keep + w * value.z;
            acc.w = acc.w * keep + w * value.w;
            total = total * keep + w;
            top = next;
        }
    }
    ((float2*)merged[warp])[lane * 2] = make_float2(acc.x, acc.y);
    ((float2*)merged[warp])[lane * 2 + 1] = make_float2(acc.z, acc.w);
    if (lane == 0) merged[warp][D] = top, merged[warp][D + 1] = total;
    __syncthreads();
    float best = -1e30f, sum = 0.f, value = 0.f;
    for (int w = 0; w < WARPS; ++w) best = fmaxf(best, merged[w][D]);
    for (int w = 0; w < WARPS; ++w) {
        float scale = __expf(merged[w][D] - best);
        sum += scale * merged[w][D + 1];
        if (threadIdx.x < D) value += scale * merged[w][threadIdx.x];
    }
    if (threadIdx.x < D) part[threadIdx.x] = value;
    if (threadIdx.x == 0) part[D] = best, part[D + 1] = sum;
}

__global__ void h503_decode(const float* q, const __half* k, const __half* v, float* part,
                            float* out, int length) {
    size_t head = blockIdx.x;
    float* mine = part + head * (D + 2);
    walk(q + head * D, k + head * length * D, v + head * length * D, 0, length, mine);
    __syncthreads();
    if (threadIdx.x < D) out[head * D + threadIdx.x] = mine[threadIdx.x] / mine[D + 1];
}

__global__ void h503_decode_b(const float* q, const __half* k, const __half* v, float* part,
                              int length) {
    size_t head = blockIdx.y;
    int chunk = length / gridDim.x, begin = blockIdx.x * chunk;
    float* mine = part + (head * gridDim.x + blockIdx.x) * (D + 2);
    walk(q + head * D, k + head * length * D, v + head * length * D, begin, begin + chunk, mine);
}

__global__ void h503_decode_c(const float* part, float* out, int splits) {
    const float* mine = part + (size_t)blockIdx.x * splits * (D + 2);
    float best = -1e30f, sum = 0.f, value = 0.f;
    for (int s = 0; s < splits; ++s) best = fmaxf(best, mine[s * (D + 2) + D]);
    for (int s = 0; s < splits; ++s) {
        float scale = __expf(mine[s * (D + 2) + D] - best);
        sum += scale * mine[s * (D + 2) + D + 1];
        value += scale * mine[s * (D + 2) + threadIdx.x];
    }
    out[blockIdx.x * D + threadIdx.x] = value / sum;
}

extern "C" int h503_run(const float* q, const __half* k, const __half* v, float* part, float* out,
                        long long heads, long long length, long long splits, cudaStream_t stream) {
    h503_decode<<<heads, WARPS * 32, 0, stream>>>(q, k, v, part, out, length);
    return cudaGetLastError();
}

extern "C" int h503_fixed(const float* q, const __half* k, const __half* v, float* part, float* out,
                          long long heads, long long length, long long splits,
                          cudaStream_t stream) {
    h503_decode_b<<<dim3(splits, heads), WARPS * 32, 0, stream>>>(q, k, v, part, length);
    h503_decode_c<<<heads, D, 0, stream>>>(part, out, splits);
    return cudaGetLastError();
}
