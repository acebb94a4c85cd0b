// Eight rows a block of 256 threads: the grid counts in warps.
__global__ void fill(float* y, int rows, int n) {
  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row < rows) y[row * n + threadIdx.x % 32] = row;
}

extern "C" void solve(float* y, int rows, int n) { fill<<<(rows + 7) / 8, 256>>>(y, rows, n); }
