"""What one planted case is: a kernel with a fault by construction, and its cure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Prepared:
    """A case with its tensors on the GPU, ready to launch."""

    run: Callable[[], Any]
    """Launches the kernel under test exactly once (asynchronously)."""
    outputs: Callable[[], list[Any]]
    """Output tensors of the last launch."""
    fixes: dict[str, Callable[[], Any]] = field(default_factory=dict)
    """Cured versions by name: ``fixed`` for one fault; for two faults one entry per fault
    (``fix_<cause>``) and ``fixed`` with both cured. Each launches once, on the same inputs,
    and writes the same outputs."""
    reference: Callable[[], list[Any]] | None = None
    """Expected outputs from torch, where a fix alone would not show that both are right."""
    rtol: float = 1e-3
    atol: float = 1e-3


@dataclass(frozen=True)
class Case:
    """One planted kernel."""

    name: str
    """The kernel function's name as the profiler sees it (or its prefix); neutral."""
    prepare: Callable[[], Prepared]
    """Allocates inputs (torch, device cuda, fixed seed) and returns what to launch."""
    kernels_per_run: int = 1
