"""Triton's interpreter, made to compute as compiled kernels do where it is known to differ.

Sums of truths (``i1``) wrap to one bit when compiled, and numpy's are a logical or; a conversion
to bf16 rounds to nearest even when compiled, and the interpreter cuts the bits off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

_DONE: Final = "computes_as_compiled"


def compute_as_compiled() -> None:
    """Mend the interpreter of this process, once."""
    from triton.runtime.interpreter import InterpreterBuilder

    if getattr(InterpreterBuilder, _DONE, False):
        return
    setattr(InterpreterBuilder, _DONE, True)
    for name in ("create_add", "create_sub"):
        setattr(InterpreterBuilder, name, _of_one_bit(getattr(InterpreterBuilder, name)))
    InterpreterBuilder.cast_impl = _rounding(InterpreterBuilder.cast_impl)


def _of_one_bit(before: Any) -> Any:
    """An addition or subtraction of whole numbers: of truths it is an exclusive or."""

    def combine(builder: Any, left: Any, right: Any) -> Any:
        import numpy as np

        if left.data.dtype == np.bool_ and right.data.dtype == np.bool_:
            return builder.binary_op(left, right, np.logical_xor)
        return before(builder, left, right)

    return combine


def _rounding(before: Any) -> Any:
    """A conversion: what becomes bf16 is rounded to nearest even."""

    def convert(builder: Any, source: Any, target: Any) -> Any:
        import numpy as np
        import triton.language as tl
        from triton.runtime.interpreter import TensorHandle

        if target.scalar != tl.bfloat16 or source.dtype.scalar == tl.bfloat16:
            return before(builder, source, target)
        return TensorHandle(nearest_bf16(source.data.astype(np.float32)), tl.bfloat16)

    return convert


def nearest_bf16(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bits of the bf16 numbers nearest to fp32 ``values``, as the interpreter keeps them."""
    import numpy as np

    bits = np.ascontiguousarray(values).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    quiet = bits >> 16 | 0x40  # a NaN stays one
    return np.where(np.isnan(values), quiet, rounded).astype(np.uint16)
