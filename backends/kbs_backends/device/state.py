"""Global state of the worker's interpreter before and after the candidate.

A candidate that lies about its state harms nobody but itself: every candidate has its own
process, and values and clocks are judged by the owner.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import torch

from kbs_backends.device.messages import State

_FLAGS: dict[str, Callable[[], Any]] = {
    "default dtype": torch.get_default_dtype,
    "float32 matmul precision": torch.get_float32_matmul_precision,
    "allow_tf32 (matmul)": lambda: torch.backends.cuda.matmul.allow_tf32,
    "allow_tf32 (cudnn)": lambda: torch.backends.cudnn.allow_tf32,
    "cudnn benchmark": lambda: torch.backends.cudnn.benchmark,
    "deterministic algorithms": torch.are_deterministic_algorithms_enabled,
    "random state": lambda: torch.random.get_rng_state().numpy().tobytes(),
    "trace function": sys.gettrace,
    "profile function": sys.getprofile,
}

_WATCHED: tuple[tuple[Any, str], ...] = (
    (time, "perf_counter"), (time, "perf_counter_ns"), (time, "time"), (time, "monotonic"),
    (torch.cuda, "Event"), (torch.cuda, "synchronize"), (torch.cuda.Event, "elapsed_time"),
    (torch.cuda.Event, "record"), (torch.cuda.Event, "synchronize"),
    (torch, "allclose"), (torch, "equal"), (torch, "empty"), (torch.Tensor, "data_ptr"),
    (torch.Tensor, "copy_"), (torch.Tensor, "stride"), (torch.Tensor, "untyped_storage"),
    (threading.Thread, "start"),
)  # fmt: skip


class Snapshot:
    """State at the time of making; ``compare`` tells what is different."""

    def __init__(self) -> None:
        """Read the state of now."""
        self._flags = {name: read() for name, read in _FLAGS.items()}
        self._functions = [getattr(holder, name) for holder, name in _WATCHED]
        self._threads = frozenset(thread.ident for thread in threading.enumerate())

    def forgive_random(self) -> None:
        """A module that seeds at import is honest; a call that draws or seeds is not."""
        self._flags["random state"] = _FLAGS["random state"]()

    def compare(self) -> State:
        """What has changed since."""
        changed = [name for name, read in _FLAGS.items() if read() != self._flags[name]]
        patched = [
            f"{getattr(holder, '__name__', holder)}.{name}"
            for (holder, name), before in zip(_WATCHED, self._functions, strict=True)
            if getattr(holder, name) is not before
        ]
        threads = [
            thread.name for thread in threading.enumerate() if thread.ident not in self._threads
        ]
        return State(changed=tuple(changed), patched=tuple(patched), threads=tuple(threads))
