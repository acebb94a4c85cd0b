"""Attention forward, one block of queries a program, causal or not."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"H": 2, "N": 32, "D": 16}]


@triton.jit
def attn_fwd(Q, K, V, O, stride_h, stride_n, N_CTX, scale,
             BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr):  # fmt: skip
    start_m = tl.program_id(0)
    head = tl.program_id(1)
    base = head * stride_h
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    q = tl.load(Q + base + offs_m[:, None] * stride_n + offs_d[None, :])
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    for start_n in range(0, N_CTX, BLOCK_N):
        cols = start_n + offs_n
        k = tl.load(K + base + cols[None, :] * stride_n + offs_d[:, None])
        qk = tl.dot(q, k) * scale
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(qk - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(V + base + cols[:, None] * stride_n + offs_d[None, :])
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m_i = m_new
    acc = acc / l_i[:, None]
    tl.store(O + base + offs_m[:, None] * stride_n + offs_d[None, :], acc)


def setup(H, N, D):
    q, k, v = (torch.randn(H, N, D, device=DEVICE, dtype=torch.float16) for _ in range(3))
    o = torch.empty(H, N, D, device=DEVICE)
    return {"inputs": {"q": q, "k": k, "v": v, "o": o}, "outputs": ["o"]}


def run_kernel(q, k, v, o):
    H, N, D = q.shape
    grid = (triton.cdiv(N, 16), H)
    attn_fwd[grid](q, k, v, o, q.stride(0), q.stride(1), N, D**-0.5,
                   BLOCK_M=16, BLOCK_N=16, D=D, num_warps=4, num_stages=2)  # fmt: skip


def reference(q, k, v, o):
    scores = q.float() @ k.float().transpose(1, 2) * q.shape[2] ** -0.5
    return {"o": torch.softmax(scores, dim=2) @ v.float()}
