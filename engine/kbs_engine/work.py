"""The work that a kernel must do, whatever its implementation."""

from __future__ import annotations

import msgspec

from kbs_engine.vocabulary import MATRIX_FAMILIES, Dtype, Family

SCHEMA_VERSION = 1


class Work(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Compulsory work of one launch. None is *not known*, never zero.

    ``flops`` counts multiply-adds as two; what a counter does not know (exp, divide) is not
    in it. ``permitted`` are the precisions in which the task allows the arithmetic.
    """

    kernel: Family = "other"
    dtype: Dtype | None = None
    permitted: tuple[Dtype, ...] = ()
    flops: float | None = None
    bytes_in: float | None = None
    bytes_out: float | None = None

    def __post_init__(self) -> None:
        """Refuse negative work."""
        for name in ("flops", "bytes_in", "bytes_out"):
            value = getattr(self, name)
            if value is not None and value < 0:
                msg = f"{name} is negative ({value})"
                raise ValueError(msg)

    @property
    def bytes_min(self) -> float | None:
        """Compulsory bytes in and out together, known only when both are."""
        if self.bytes_in is None or self.bytes_out is None:
            return None
        return self.bytes_in + self.bytes_out

    @property
    def is_matrix(self) -> bool:
        """Whether the arithmetic is matrix multiplication."""
        return self.kernel in MATRIX_FAMILIES

    @property
    def precisions(self) -> tuple[Dtype, ...]:
        """The permitted precisions; the data type alone where nothing else is said."""
        if self.permitted:
            return self.permitted
        return (self.dtype,) if self.dtype else ()
