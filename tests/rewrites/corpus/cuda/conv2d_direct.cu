// Direct 3x3 convolution over one image.
__global__ void conv2d(const float* input, const float* kernel, float* output, int H, int W, int KH, int KW) {
  int ox = blockIdx.x * blockDim.x + threadIdx.x;
  int oy = blockIdx.y * blockDim.y + threadIdx.y;
  int OH = H - KH + 1;
  int OW = W - KW + 1;
  if (ox < OW && oy < OH) {
    float sum = 0.0f;
    for (int ky = 0; ky < KH; ++ky) {
      for (int kx = 0; kx < KW; ++kx) {
        sum += input[(oy + ky) * W + (ox + kx)] * kernel[ky * KW + kx];
      }
    }
    output[oy * OW + ox] = sum;
  }
}

extern "C" void solve(const float* input, const float* kernel, float* output, int H, int W, int KH, int KW) {
  dim3 threads(16, 16);
  dim3 blocks((W - KW + 16) / 16, (H - KH + 16) / 16);
  conv2d<<<blocks, threads>>>(input, kernel, output, H, W, KH, KW);
}
