// No register pressure at all: an array indexed at run time lives in local memory.
extern "C" __global__ void no_spills_at_all(float* out, const float* in, const int* index)
{
    float v[64];
    for (int i = 0; i < 64; ++i) {
        v[i] = in[i * 32 + threadIdx.x];
    }
    for (int i = 0; i < 64; ++i) {
        v[index[i] & 63] += v[index[i + 64] & 63];
    }
    out[threadIdx.x] = v[index[threadIdx.x] & 63] + v[index[threadIdx.x + 1] & 63];
}
