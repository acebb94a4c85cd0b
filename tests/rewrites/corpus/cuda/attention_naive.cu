// Attention for one head, a thread a query, online softmax.
#include <float.h>
#include <math.h>

__global__ void attention(const float* Q, const float* K, const float* V, float* O, int N, int d, float scale) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= N) return;
  float m = -FLT_MAX, l = 0.0f;
  for (int j = 0; j < d; ++j) O[q * d + j] = 0.0f;
  for (int k = 0; k < N; ++k) {
    float s = 0.0f;
    for (int j = 0; j < d; ++j) s += Q[q * d + j] * K[k * d + j];
    s *= scale;
    float m_new = fmaxf(m, s);
    float alpha = expf(m - m_new);
    float p = expf(s - m_new);
    l = l * alpha + p;
    for (int j = 0; j < d; ++j) O[q * d + j] = O[q * d + j] * alpha + p * V[k * d + j];
    m = m_new;
  }
  for (int j = 0; j < d; ++j) O[q * d + j] /= l;
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* O, int N, int d) {
  attention<<<(N + 127) / 128, 128>>>(Q, K, V, O, N, d, 1.0f / sqrtf((float)d));
}
