"""Timing one callable on the GPU: CUDA events, L2 flushed, the host's launch work covered."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

FLUSH_BYTES = 256 * 1024 * 1024
COVER_CYCLES = 400_000
"""Device sleep before the first event: the host has queued the launch when it ends."""


@dataclass(frozen=True)
class Sample:
    """Median and spread of the timed calls, in nanoseconds."""

    median_ns: float
    p20_ns: float
    p80_ns: float
    samples: int

    def as_dict(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)


def sample_ns(
    run: Callable[[], Any],
    *,
    flush: bool = True,
    cover_cycles: int = COVER_CYCLES,
    count: int = 31,
) -> Sample:
    """Time ``count`` calls of ``run`` after warm-up; the first is discarded."""
    import torch as torch_module

    torch: Any = torch_module
    scratch = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda") if flush else None
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    values = []
    for _ in range(count):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        if scratch is not None:
            scratch.fill_(1)
        if cover_cycles:
            torch.cuda._sleep(cover_cycles)  # noqa: SLF001 - torch's only device-side delay
        start.record()
        run()
        stop.record()
        stop.synchronize()
        values.append(float(start.elapsed_time(stop)) * 1e6)
    kept = values[1:]
    cuts = statistics.quantiles(kept, n=5, method="inclusive")
    return Sample(statistics.median(kept), cuts[0], cuts[3], len(kept))
