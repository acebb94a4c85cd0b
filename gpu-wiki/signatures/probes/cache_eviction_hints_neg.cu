// Coherence operators (__ldcg, volatile) and the read-only path change scope or path, not eviction priority.
extern "C" __global__ void evict_last_evict_first_EF_EL(float* out, const float* table, const float* __restrict__ stream)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __ldcg(table + i) + __ldcv(table + 7 * i) + __ldg(stream + i);
}
