"""When Triton's interpreter may be what is wrong, and not the kernel.

The interpreter has no arithmetic of bf16: it keeps its values as the whole numbers of the same
bits, and a sum of two is a sum of bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kbs_backends.device.context import Bench
    from kbs_backends.device.task import LoadedTask
    from kbs_engine.jobs import SourceRef

MISCOMPUTED: Final = frozenset({"wrong_result", "nonfinite", "nondeterministic"})
"""Reasons that wrong arithmetic can have."""
_AS_BITS: Final = "bfloat16"


def doubt(bench: Bench, source: SourceRef, task: LoadedTask) -> str:
    """Why a refusal of ``source`` may be no fault of its own; empty where nothing tells so."""
    if bench.side.name != "host" or source.language != "triton":
        return ""
    if _AS_BITS not in {one.dtype for one in task.layout.specs}:
        return ""
    if b"triton.jit" not in bench.blobs.get(source.sha256):
        return ""
    return (
        "this may be no fault of the kernel: on the host Triton's interpreter computes bf16 "
        "arithmetic wrongly, on the bits as whole numbers; convert what is loaded with "
        ".to(tl.float32), or check on a GPU"
    )
