// The loads stream (__ldcs), the stores are write-through or plain: no streaming store.
extern "C" __global__ void streaming_stores_STG_EF(float4* out, const float4* in, float* flag, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float4 v = __ldcs(&in[i]);
        out[i] = make_float4(v.x + 1, v.y + 1, v.z + 1, v.w + 1);
        __stwt(&flag[i], v.x);
    }
}
