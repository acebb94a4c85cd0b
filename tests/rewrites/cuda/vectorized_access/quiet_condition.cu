// The second result may be shorter than the first.
__global__ void head_and_all(const float* x, float* y, float* head, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v = x[i] * 2.0f;
    y[i] = v;
    if (i < m) head[i] = v + 1.0f;
  }
}

extern "C" void solve(const float* x, float* y, float* head, int n, int m) {
  head_and_all<<<(n + 255) / 256, 256>>>(x, y, head, n, m);
}
