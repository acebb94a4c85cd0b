// Lanes that pass a test are counted by a vote; one lane adds for all.
extern "C" __global__ void count(unsigned* total, const float* in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool take = i < n && in[i] > 0;
    const unsigned lanes = __ballot_sync(0xffffffffu, take);
    if (threadIdx.x % 32 == 0 && lanes != 0) {
        atomicAdd(total, __popc(lanes));
    }
}
