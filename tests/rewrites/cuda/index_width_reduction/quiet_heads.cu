// Rows whose number stands in the launch alone: no size of the task says how far they reach.
__global__ void heads(const float* x, float* y, int n, int heads) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int h = 0; h < heads; h++) y[(long long)h * n + i] = x[i] + h;
}

extern "C" void solve(const float* x, float* y, int N) { heads<<<(N + 255) / 256, 256>>>(x, y, N, 1 << 20); }
