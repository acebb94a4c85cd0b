"""Patterns that fill outputs before a call, so that what was not written shows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

_LARGE = 0.5
_ALL_BITS = 256


def _nan(value: Any, generator: Any) -> None:
    del generator
    value.fill_(float("nan") if _inexact(value) else _largest(value))


def _infinity(value: Any, generator: Any) -> None:
    import torch

    del generator
    if _inexact(value):  # copied: fp8 without infinities takes its largest value or NaN
        value.copy_(torch.tensor(float("inf")))
    else:
        value.fill_(_largest(value))


def _large(value: Any, generator: Any) -> None:
    del generator
    value.fill_(_largest(value) * _LARGE if _inexact(value) else _largest(value))


def _random(value: Any, generator: Any) -> None:
    """Values that look like results."""
    import torch

    dtype = torch.complex64 if value.is_complex() else torch.float32
    drawn = torch.randn(value.shape, generator=generator, device=value.device, dtype=dtype)
    value.copy_(drawn if _inexact(value) else (drawn * 100).to(torch.int32))


def _bits(value: Any, generator: Any) -> None:
    """Random bytes: NaN and infinity among them."""
    import torch

    size = (*value.shape, value.element_size())
    drawn = torch.randint(0, _ALL_BITS, size, generator=generator, device=value.device)
    if value.dtype == torch.bool:
        value.copy_(drawn[..., 0] % 2 == 0)
        return
    value.copy_(drawn.to(torch.uint8).view(value.dtype).reshape(value.shape))


_PATTERNS: Final[dict[str, Callable[[Any, Any], None]]] = {
    "nan": _nan, "random": _random, "large": _large, "bits": _bits, "infinity": _infinity,
}  # fmt: skip

POISONS: Final[tuple[str, ...]] = tuple(_PATTERNS)
"""Names of the patterns. Vary them from call to call: one that is known can be looked for."""


def poison(inputs: Mapping[str, Any], outputs: Sequence[str], pattern: str, seed: int) -> None:
    """Fill the outputs in place with ``pattern``."""
    import torch

    for number, name in enumerate(outputs):
        value = inputs[name]
        generator = torch.Generator(device=value.device).manual_seed(seed + number)
        _PATTERNS[pattern](value, generator)


def digest(inputs: Mapping[str, Any], names: Sequence[str] = ()) -> dict[str, str]:
    """SHA-256 of the content of every tensor (or of ``names``), for a comparison afterwards."""
    import torch

    wanted = names or [n for n, v in inputs.items() if isinstance(v, torch.Tensor)]
    return {name: _hash(inputs[name]) for name in wanted}


def _hash(value: Any) -> str:
    import torch

    plain = value.detach().contiguous().cpu().reshape(-1).view(torch.uint8)
    return hashlib.sha256(plain.numpy().tobytes()).hexdigest()


def _inexact(value: Any) -> bool:
    """Whether NaN and infinity are values of its dtype: floating and complex ones."""
    return bool(value.is_floating_point() or value.is_complex())


def _largest(value: Any) -> float | int | bool:
    """The largest value of the dtype; of a complex one, of its parts."""
    import torch

    if value.dtype == torch.bool:
        return True
    if _inexact(value):
        return float(torch.finfo(value.dtype).max)
    return int(torch.iinfo(value.dtype).max)
