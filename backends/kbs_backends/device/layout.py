"""Where each argument of one call lies in the arena: slots, shifts, and canaries between.

The arena is one flat buffer of bytes. A slot holds all arguments of one call; slots rotate,
and inside a slot everything moves by a shift, so that addresses change between calls and an
address comes back with other values. Alignment never changes (256 bytes, what an allocator
gives), because kernels are compiled for it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

ALIGN_BYTES = 256
CANARY_BYTES = 256
SHIFTS = 8
"""Different shifts inside a slot, each of ``ALIGN_BYTES``."""


class TensorSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Shape, strides (in elements) and data type of one tensor argument."""

    name: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str
    """As torch writes it, without ``torch.``."""
    item_bytes: int
    any_layout: bool = False
    """Whether a returned tensor may have other strides: nobody has said which it must have."""

    @property
    def dense(self) -> bool:
        """Whether elements lie one after the other, in the order of the shape."""
        step = 1
        for size, stride in zip(reversed(self.shape), reversed(self.stride), strict=True):
            if size != 1 and stride != step:
                return False
            step *= size
        return True

    @property
    def extent_bytes(self) -> int:
        """Bytes from the first element to behind the last: 1 + Σ (size − 1) × stride items."""
        if any(size == 0 for size in self.shape):
            return 0
        last = sum((n - 1) * s for n, s in zip(self.shape, self.stride, strict=True))
        return (last + 1) * self.item_bytes


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """One tensor argument at its place in the arena."""

    spec: TensorSpec
    offset: int


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of a task in an arena of ``slots`` slots."""

    specs: tuple[TensorSpec, ...]
    slots: int

    @property
    def slot_bytes(self) -> int:
        """Bytes of one slot, its shifts included."""
        used = CANARY_BYTES
        for spec in self.specs:
            used += _aligned(spec.extent_bytes) + CANARY_BYTES
        return _aligned(used + (SHIFTS - 1) * ALIGN_BYTES)

    @property
    def total_bytes(self) -> int:
        """Bytes of the arena."""
        return max(ALIGN_BYTES, self.slots * self.slot_bytes)

    def place(self, slot: int, shift: int) -> tuple[Placed, ...]:
        """Offsets of all arguments in ``slot`` (taken modulo the slots), moved by ``shift``."""
        at = (slot % self.slots) * self.slot_bytes + (shift % SHIFTS) * ALIGN_BYTES
        at += CANARY_BYTES
        out = []
        for spec in self.specs:
            out.append(Placed(spec=spec, offset=at))
            at += _aligned(spec.extent_bytes) + CANARY_BYTES
        return tuple(out)


def canaries(placed: Sequence[Placed]) -> tuple[tuple[int, int], ...]:
    """(offset, bytes) of the guards before the first and after every argument.

    The guard after an argument starts at its very last byte: an overrun of one byte is seen.
    """
    if not placed:
        return ()
    first = placed[0].offset
    out = [(first - CANARY_BYTES, CANARY_BYTES)]
    for one in placed:
        end = one.offset + one.spec.extent_bytes
        until = one.offset + _aligned(one.spec.extent_bytes) + CANARY_BYTES
        out.append((end, until - end))
    return tuple(out)


def _aligned(size: int) -> int:
    return -(-size // ALIGN_BYTES) * ALIGN_BYTES
