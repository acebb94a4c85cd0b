// What is wide is data: a hash of 64 bits.
__global__ void hash(const unsigned long long* x, unsigned long long* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned long long h = 1469598103934665603ull;
    h = (h ^ x[i]) * 1099511628211ull;
    y[i] = h;
  }
}

extern "C" void solve(const unsigned long long* x, unsigned long long* y, int n) {
  hash<<<(n + 127) / 128, 128>>>(x, y, n);
}
