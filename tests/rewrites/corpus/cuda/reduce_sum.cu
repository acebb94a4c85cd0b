// Sum by shared memory and one atomic a block.
#include <cuda_runtime.h>
constexpr int THREADS = 256;

__global__ void reduce_sum(const float* input, float* output, int n) {
  __shared__ float sdata[THREADS];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (; i < n; i += blockDim.x * gridDim.x) {
    sum += input[i];
  }
  sdata[tid] = sum;
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) atomicAdd(output, sdata[0]);
}

extern "C" void solve(const float* input, float* output, int n) {
  cudaMemset(output, 0, sizeof(float));
  int blocks = (n + THREADS - 1) / THREADS;
  reduce_sum<<<blocks < 1024 ? blocks : 1024, THREADS>>>(input, output, n);
}
