// The same exchange through shared memory; a ballot is no exchange of data.
extern "C" __global__ void shuffle_exchange_SHFL(float* out, const float* in)
{
    __shared__ float line[256];
    const int i = blockIdx.x * 256 + threadIdx.x;
    const float v = in[i];
    line[threadIdx.x] = v;
    __syncwarp();
    const float left = line[threadIdx.x == 0 ? 0 : threadIdx.x - 1];
    out[i] = v - left + static_cast<float>(__ballot_sync(0xffffffffu, v > 0));
}
