"""The smallest Triton kernel; imported only where Triton is there (``warm_triton``)."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]  # triton has no stubs
def fill_kernel(out, value, size: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Write ``value`` to ``size`` elements."""
    tl.store(out + tl.arange(0, size), value)
