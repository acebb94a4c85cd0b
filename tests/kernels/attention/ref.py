"""Attention forward for fp16 heads: out = softmax(q k^T / sqrt(D)) v, layout B, H, S, D."""

import torch

family = "attention"


def setup(B=4, H=16, S=2048, D=64, seed=0):
    torch.manual_seed(seed)
    q, k, v = (torch.randn(B, H, S, D, device="cuda", dtype=torch.float16) for _ in range(3))
    inputs = {"q": q, "k": k, "v": v, "out": torch.empty_like(q), "B": B, "H": H, "S": S, "D": D}
    return {"inputs": inputs, "outputs": ["out"]}


def reference(q, k, v, baseline=None, **_):
    if baseline == "flashinfer":
        import flashinfer

        heads = (value.flatten(0, 1).transpose(0, 1).contiguous() for value in (q, k, v))
        made = flashinfer.single_prefill_with_kv_cache(*heads)
        return made.transpose(0, 1).reshape(q.shape).contiguous()
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def flops(B=4, H=16, S=2048, D=64):
    return {"fp16": 4 * B * H * S * S * D}
