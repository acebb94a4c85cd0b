"""Patterns that fill outputs before a call, so that what was not written shows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

_LARGE = 0.5
_WORD_BYTES = 8
_BITS_PER_BYTE = 8
_LEAST_WORD = -(1 << 63)
_FEW = 64
"""Elements too few for the signs of infinities to tell those of the poison from computed ones."""


def _nan(value: Any, generator: Any) -> None:
    """NaN whose payload and sign are drawn: those that a kernel computes have others."""
    if not _inexact(value):
        _bits(value, generator)  # no number of theirs is one that no kernel computes
    elif value.element_size() == 1:
        value.fill_(float("nan"))
    else:
        _fill(value, generator, float("nan"), drawn_bits=-1)


def _infinity(value: Any, generator: Any) -> None:
    """Infinities of either sign."""
    if not _inexact(value) or value.numel() < _FEW:
        _large(value, generator)
    else:
        _signed(value, generator, float("inf"))


def _large(value: Any, generator: Any) -> None:
    if _inexact(value):
        _signed(value, generator, _largest(value) * _LARGE)
    else:
        _bits(value, generator)


def _signed(value: Any, generator: Any, size: float) -> None:
    """``size`` or its negative, drawn for each element."""
    import torch

    if value.element_size() == 1:  # copied: fp8 without infinities takes its largest value or
        value.copy_(torch.full((), size, device=value.device))  # NaN there: 50 ms from the host
        return
    part = _part(value)
    _fill(value, generator, size, drawn_bits=-1 << (_BITS_PER_BYTE * part.itemsize - 1))


def _fill(value: Any, generator: Any, base: float, *, drawn_bits: int) -> None:
    """``base`` in every part of every element, and random ones beside it among ``drawn_bits``."""
    import torch

    part = _part(value)
    whole = {2: torch.int16, 4: torch.int32, 8: torch.int64}[part.itemsize]
    parts = value.numel() * value.element_size() // part.itemsize
    drawn = _words(parts * part.itemsize, value.device, generator).view(whole)[:parts]
    drawn &= drawn_bits
    drawn |= torch.full((), base, dtype=part).view(whole).item()
    value.copy_(drawn.view(value.dtype).reshape(value.shape))


def _part(value: Any) -> Any:
    """The dtype of the real parts: a complex number has two."""
    import torch

    if not value.is_complex():
        return value.dtype
    return torch.empty(0, dtype=value.dtype).real.dtype


def _random(value: Any, generator: Any) -> None:
    """Values that look like results."""
    import torch

    if value.dtype == torch.bool:
        _bits(value, generator)
        return
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
    drawn = _words(value.numel() * value.element_size(), value.device, generator)
    elements = drawn.view(value.dtype)[: value.numel()]
    value.copy_(elements.reshape(value.shape))


def _words(size_bytes: int, device: Any, generator: Any) -> Any:
    """At least ``size_bytes`` random bytes, as int64: bytes one by one are slow."""
    import torch

    drawn = torch.empty(-(-size_bytes // _WORD_BYTES), dtype=torch.int64, device=device)
    drawn.random_(_LEAST_WORD, None, generator=generator)
    return drawn


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


def _largest(value: Any) -> float:
    """The largest value of an inexact dtype; of a complex one, of its parts."""
    import torch

    return float(torch.finfo(value.dtype).max)
