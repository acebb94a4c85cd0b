// Histogram through global atomics.
__global__ void histogram(const unsigned char* data, unsigned int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int stride = blockDim.x * gridDim.x;
  while (i < n) {
    atomicAdd(&bins[data[i]], 1u);
    i += stride;
  }
}

extern "C" void solve(const unsigned char* data, unsigned int* bins, int n) {
  histogram<<<132, 512>>>(data, bins, n);
}
