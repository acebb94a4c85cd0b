// A copy of N floats, then one thread that spins: SPIN_NS is replaced to slow it by a known time.
#include <cuda_runtime.h>

// the recorder replaces the number in the next line
constexpr long long SPIN_NS = 0;

__global__ void copy(const float4 *__restrict__ x, float4 *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}

__global__ void spin(long long ns) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (static_cast<long long>(now - start) < ns);
}

extern "C" void solve(const float *x, float *y, int N) {
    int n = N / 4;
    copy<<<(n + 255) / 256, 256>>>(reinterpret_cast<const float4 *>(x),
                                   reinterpret_cast<float4 *>(y), n);
    spin<<<1, 1>>>(SPIN_NS);
}
