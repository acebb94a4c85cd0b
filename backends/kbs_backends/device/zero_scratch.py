"""Triton's scratch memory filled with zeros, so that initcheck may judge kernels that use it.

Tile descriptors made in a kernel are laid down in scratch memory by an atomic exchange whose old
value is thrown away (ATOMG.EXCH into RZ, Triton 3.6 for sm_90a). initcheck calls that a read of
what nobody wrote, once a thread; nothing else of the kernel reads the scratch before it writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Allocator = Callable[[int, int, "int | None"], Any]


def zero_scratch() -> None:
    """From here on every allocator that a kernel hands to ``triton.set_allocator`` gives zeros."""
    import triton
    from triton.runtime import _allocation

    plain = _allocation.set_allocator

    def set_allocator(allocator: Allocator) -> None:
        plain(zeroing(allocator))

    for module in (_allocation, triton, triton.runtime):
        if hasattr(module, "set_allocator"):
            module.set_allocator = set_allocator


def zeroing(allocator: Allocator) -> Allocator:
    """The same allocator, whose memory holds zeros."""

    def zeroed(size: int, alignment: int, stream: int | None) -> Any:
        memory = allocator(size, alignment, stream)
        if hasattr(memory, "zero_"):
            memory.zero_()
        return memory

    return zeroed
