"""Mean cross-entropy of a batch over a vocabulary of 128k words."""

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
op = "cross_entropy"
family = "loss"


def setup(M=1024, V=131072, **_):
    logits = torch.randn(M, V, device=DEVICE)
    target = torch.randint(0, V, (M,), device=DEVICE)
    inputs = {"logits": logits, "target": target, "out": torch.empty((), device=DEVICE)}
    return {"inputs": inputs, "outputs": ["out"]}


def reference(logits, target, out, **_):
    out.copy_(torch.nn.functional.cross_entropy(logits, target))


def bytes(M=1024, V=131072, **_):
    return {"in": 4 * M * V + 8 * M, "out": 4}
