// Softmax, a block a row, three passes.
#include <cuda_runtime.h>
#include <float.h>
#include <math.h>

__inline__ __device__ float warp_max(float v) {
  for (int offset = 16; offset > 0; offset >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, offset));
  return v;
}

__inline__ __device__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(0xffffffff, v, offset);
  return v;
}

__global__ void softmax_kernel(const float* x, float* y, int rows, int cols) {
  __shared__ float shared[32];
  const float* in = x + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  int lane = threadIdx.x % 32;
  int warp = threadIdx.x / 32;
  int warps = blockDim.x / 32;
  float m = -FLT_MAX;
  for (int j = threadIdx.x; j < cols; j += blockDim.x) m = fmaxf(m, in[j]);
  m = warp_max(m);
  if (lane == 0) shared[warp] = m;
  __syncthreads();
  m = warp_max(lane < warps ? shared[lane] : -FLT_MAX);
  __syncthreads();
  float s = 0.0f;
  for (int j = threadIdx.x; j < cols; j += blockDim.x) s += expf(in[j] - m);
  s = warp_sum(s);
  if (lane == 0) shared[warp] = s;
  __syncthreads();
  s = warp_sum(lane < warps ? shared[lane] : 0.0f);
  for (int j = threadIdx.x; j < cols; j += blockDim.x) out[j] = expf(in[j] - m) / s;
}

extern "C" void solve(const float* x, float* y, int rows, int cols) {
  softmax_kernel<<<rows, 256>>>(x, y, rows, cols);
}
