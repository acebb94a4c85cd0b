// Maximum over the four lanes of a matrix fragment's row: two exchanges, four rows at once.
extern "C" __global__ void row_max(float* out, const float* in)
{
    float v[4];
    for (int r = 0; r < 4; ++r) {
        v[r] = in[r * 32 + threadIdx.x];
        v[r] = fmaxf(v[r], __shfl_xor_sync(0xffffffffu, v[r], 1));
        v[r] = fmaxf(v[r], __shfl_xor_sync(0xffffffffu, v[r], 2));
    }
    for (int r = 0; r < 4; ++r) {
        out[r * 32 + threadIdx.x] = v[r];
    }
}
