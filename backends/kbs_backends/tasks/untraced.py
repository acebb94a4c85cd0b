"""Torch's dispatch modes without torch's compiler.

Torch hides the dispatch of its modes from its tracer, and to do so imports the tracer when one is
first entered: 5 s in a fresh process that will never trace anything.
"""

from __future__ import annotations

import sys
from typing import Any


def is_tracing() -> bool:
    """Whether somebody imported the tracer anyway: then it must be told."""
    return "torch._dynamo" in sys.modules


def spare(mode: Any) -> None:
    """Let a mode class of torch's own do without; nothing where torch does it otherwise.

    ``torch._compile._disable_dynamo`` keeps what it made of a function in this very attribute.
    """
    bare = getattr(getattr(mode, "__torch_dispatch__", None), "__wrapped__", None)
    if bare is not None and not is_tracing():
        vars(bare).setdefault("__dynamo_disable", bare)
