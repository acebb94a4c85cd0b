// Waits for the previous grid only where its results are needed, and lets the next grid start early.
extern "C" __global__ void overlap(float* out, const float* weights, const float* previous)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float w = weights[i];
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[i] = w * previous[i];
}
