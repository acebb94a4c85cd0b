// Writes to an address that nobody owns.
#include <cuda_runtime.h>

__global__ void fault() { *reinterpret_cast<volatile float*>(0x10) = 1.0f; }

extern "C" void solve(const float* x, const float* b, float* out, int rows, int cols) {
  fault<<<1, 1>>>();
}
