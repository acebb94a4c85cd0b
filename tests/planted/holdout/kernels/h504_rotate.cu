#include <cuda_runtime.h>

constexpr int D = 128, HALF = D / 2, TILE = 32;

// x [token][head][D] -> out [head][D][token], rotated by the angle of (token, pair).
__device__ float2 turn(const float* row, const float2* table, int token, int pair) {
    float a = row[pair], b = row[pair + HALF];
    float2 w = table[token * HALF + pair];
    return make_float2(a * w.x - b * w.y, a * w.y + b * w.x);
}

__global__ void h504_rotate(const float* __restrict__ x, const float2* __restrict__ table,
                            float* __restrict__ out, int tokens, int heads) {
    int token = blockIdx.x * 4 + threadIdx.x / HALF, head = blockIdx.y;
    int pair = threadIdx.x % HALF;
    float2 r = turn(x + ((size_t)token * heads + head) * D, table, token, pair);
    out[(size_t)(head * D + pair) * tokens + token] = r.x;
    out[(size_t)(head * D + pair + HALF) * tokens + token] = r.y;
}

__global__ void h504_rotate_b(const float* __restrict__ x, const float2* __restrict__ table,
                              float* __restrict__ out, int tokens, int heads) {
    __shared__ float tile[D][TILE + 1];
    int first = blockIdx.x * TILE, head = blockIdx.y, pair = threadIdx.x % HALF;
    for (int t = threadIdx.x / HALF; t < TILE; t += 4) {
        float2 r = turn(x + ((size_t)(first + t) * heads + head) * D, table, first + t, pair);
        tile[pair][t] = r.x;
        tile[pair + HALF][t] = r.y;
    }
    __syncthreads();
    int lane = threadIdx.x % 32;
    for (int d = threadIdx.x / 32; d < D; d += 8)
        out[(size_t)(head * D + d) * tokens + first + lane] = tile[d][lane];
}

extern "C" int h504_run(const float* x, const float2* table, float* out, long long tokens,
                        long long heads, cudaStream_t stream) {
    h504_rotate<<<dim3(tokens / 4, heads), 256, 0, stream>>>(x, table, out, tokens, heads);
    return cudaGetLastError();
}

extern "C" int h504_fixed(const float* x, const float2* table, float* out, long long tokens,
                          long long heads, cudaStream_t stream) {
    h504_rotate_b<<<dim3(tokens / TILE, heads), 256, 0, stream>>>(x, table, out, tokens, heads);
    return cudaGetLastError();
}
