// Kernels with one fault on one line each, profiled into h100_source_counters.ncu-rep:
//   nvcc -arch=sm_90a -lineinfo -o faults h100_source_counters.cu
//   ncu --config-file off --clock-control none --profile-from-start off --section SourceCounters
//       --section SpeedOfLight … --import-source yes -o h100_source_counters ./faults
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include <cstdio>

constexpr int N = 2048;

__global__ void store_by_column(const float* __restrict__ in, float* __restrict__ out) {
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 8 + threadIdx.y;
  float value = in[y * N + x];
  out[x * N + y] = value;  // fault: neighbouring threads write N floats apart
}

__global__ void load_with_stride(const float* __restrict__ in, float* __restrict__ out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = in[(i * 8) % (N * N)];  // fault: one float of each 32-byte sector
  out[i] = value;
}

__global__ void read_shared_by_column(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float tile[32][32];
  int x = threadIdx.x;
  int y = threadIdx.y;
  int i = blockIdx.x * 1024 + y * 32 + x;
  tile[y][x] = in[i];
  __syncthreads();
  float sum = 0.0f;
#pragma unroll 1
  for (int k = 0; k < 64; ++k) {
    sum += tile[x][(y + k) & 31];  // fault: a column, 32 threads on one bank
  }
  out[i] = sum;
}

int main() {
  float *in, *out;
  cudaMalloc(&in, sizeof(float) * N * N);
  cudaMalloc(&out, sizeof(float) * N * N);
  cudaMemset(in, 0, sizeof(float) * N * N);
  cudaProfilerStart();
  store_by_column<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(in, out);
  load_with_stride<<<N * N / 256, 256>>>(in, out);
  read_shared_by_column<<<N * N / 1024, dim3(32, 32)>>>(in, out);
  cudaDeviceSynchronize();
  cudaProfilerStop();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
