// Every lane sends its own atomic to a different address.
extern "C" __global__ void warp_aggregated_atomicAdd(float* bins, const int* key, const float* in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&bins[key[i]], in[i]);
    }
}
