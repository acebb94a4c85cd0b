// An L2 policy made at run time leaves no suffix on the access; the policy constant gives it away.
// kbs:arch sm_80 sm_86 sm_89 sm_90a sm_100a sm_103a sm_110a sm_120a
extern "C" __global__ void hinted(float* out, const float* stream)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long policy;
    float s;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(s) : "l"(stream + i), "l"(policy));
    out[i] = s + 1.0f;
}
