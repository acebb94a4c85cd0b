// Indices and casts of 64 bits.
__global__ void pick(const float* x, float* y, int rows, int columns) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) y[i] = x[(long long)i * columns];
}

extern "C" void solve(const float* x, float* y, int rows, int columns) {
  pick<<<(rows + 127) / 128, 128>>>(x, y, rows, columns);
}
