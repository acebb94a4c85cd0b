// Uses a stream of its own, after the default stream and before it goes on.
#include <cuda_runtime.h>

__global__ void silu_bias(const float* x, const float* b, float* out, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) out[i] = x[i] / (1.0f + expf(-x[i])) + b[i % cols];
}

extern "C" void solve(const float* x, const float* b, float* out, int rows, int cols) {
  static cudaStream_t side = nullptr;
  static cudaEvent_t before, after;
  if (side == nullptr) {
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&before, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&after, cudaEventDisableTiming);
  }
  cudaEventRecord(before, nullptr);
  cudaStreamWaitEvent(side, before, 0);
  silu_bias<<<(rows * cols + 255) / 256, 256, 0, side>>>(x, b, out, rows, cols);
  cudaEventRecord(after, side);
  cudaStreamWaitEvent(nullptr, after, 0);
}
