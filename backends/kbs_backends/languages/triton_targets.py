"""Whether Triton compiles for a target at all: asked of it after a kernel failed to."""

from __future__ import annotations

from typing import Final

import triton
import triton.language as tl
from triton.compiler import ASTSource

from kbs_backends.languages.triton_launches import target_of

PASSES_FAILED: Final = "PassManager::run failed"
"""All that Triton says of a pass that failed, be it for the kernel or for the target."""


@triton.jit
def _smallest(out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - read as code
    tl.store(out, 1.0)


def has_target(arch: str) -> bool:
    """Whether the smallest kernel there is compiles for ``arch``."""
    source = ASTSource(fn=_smallest, signature={"out": "*fp32"}, constexprs={})
    try:
        triton.compile(source, target=target_of(arch))
    except RuntimeError as problem:
        return PASSES_FAILED not in str(problem)
    return True
