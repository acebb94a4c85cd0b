// A fence and a flag in memory take the place of the hardware's dependency.
extern "C" __global__ void griddepcontrol_ACQBULK_PREEXIT(float* out, const float* weights, const float* previous, volatile int* flag)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float w = weights[i];
    while (*flag == 0) {
        __nanosleep(100);
    }
    __threadfence();
    out[i] = w * previous[i];
}
