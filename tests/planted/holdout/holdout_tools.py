"""What the holdout's Triton cases share."""

from __future__ import annotations

import torch


def uniform(
    *shape: int, seed: int, low: float = 0.0, high: float = 1.0, dtype: torch.dtype = torch.float32
) -> torch.Tensor:
    """Random values in [low, high), the same ones each time."""
    torch.manual_seed(seed)
    return torch.rand(*shape, device="cuda").mul_(high - low).add_(low).to(dtype)
