"""Patterns that fill outputs before a call, so that what was not written shows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

_LARGE = 0.5
_WORD_BYTES = 8
_LEAST_WORD = -(1 << 63)


def _nan(value: Any, generator: Any) -> None:
    del generator
    value.fill_(float("nan") if _inexact(value) else _largest(value))


def _infinity(value: Any, generator: Any) -> None:
    import torch

    del generator
    if _inexact(value):  # copied: fp8 without infinities takes its largest value or NaN
        value.copy_(torch.full((), float("inf"), device=value.device))  # there: 50 ms from the host
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

    if value.dtype == torch.bool:
        drawn = torch.randint(0, 2, value.shape, generator=generator, device=value.device)
        value.copy_(drawn)
        return
    words = -(-value.numel() * value.element_size() // _WORD_BYTES)
    drawn = torch.empty(words, dtype=torch.int64, device=value.device)
    drawn.random_(_LEAST_WORD, None, generator=generator)  # whole words: bytes one by one are slow
    elements = drawn.view(value.dtype)[: value.numel()]
    value.copy_(elements.reshape(value.shape))


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
