// Eight iterated maps of about equal cost, chosen by a code.
#pragma once
constexpr int IT = 64;
#define ITERATE(EXPR)                          \
  _Pragma("unroll 16") for (int k = 0; k < IT; ++k) { EXPR; } \
  break

__device__ __forceinline__ float follow(float x, int code) {
  float y = x * 0.5f;
  switch (code) {
    case 0: ITERATE(x = fmaf(x, y, 0.11f); y = fmaf(y, 0.75f, 0.01f));
    case 1: ITERATE(x = fmaf(-x, x, 0.83f); y = fmaf(x, 0.3f, y * 0.5f));
    case 2: ITERATE(y = fmaf(x, 0.21f, y * 0.6f); x = fmaf(y, y, 0.07f));
    case 3: ITERATE(x = fabsf(fmaf(x, 1.3f, -0.4f)); y = fmaf(y, x, 0.02f));
    case 4: ITERATE(x = fmaxf(x * 0.97f, y); y = fmaf(y, 0.98f, 0.003f));
    case 5: ITERATE(y = fminf(y + 0.01f, x); x = fmaf(x, 0.96f, 0.02f));
    case 6: ITERATE(x = fmaf(x, x, -0.51f); y = y * 0.5f + x);
    default: ITERATE(x = x * 0.5f + y; y = fmaf(y, -0.45f, x));
  }
  return x + y;
}
