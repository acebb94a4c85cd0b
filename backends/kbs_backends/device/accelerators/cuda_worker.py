"""The worker's side of an NVIDIA GPU: map the arena, gate the stream, time with events.

The stream waits for the gate's word, then the start event, the call's launches and the stop
event are queued; when the owner opens the gate they run without gaps of launching. Then the
whole device is waited for: work on other streams shows in the owner's clock.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import torch

from kbs_backends.device.accelerators.base import ArenaHandle
from kbs_backends.device.accelerators.libcuda import (
    LIMIT_PERSISTING_L2,
    WAIT_GEQ,
    Span,
    driver,
)  # fmt: skip
from kbs_backends.device.accelerators.shared_memory import SharedMemory
from kbs_backends.device.messages import Armed, Launched, Method
from kbs_backends.device.wire import Channel


class CudaWorker:
    """Worker's side."""

    def __init__(self, gpu: int) -> None:
        """Open the context in this process (the zygote has none)."""
        torch.cuda.set_device(gpu)
        torch.cuda.init()  # type: ignore[no-untyped-call]
        self.torch_device = f"cuda:{gpu}"
        torch.zeros(1, device=self.torch_device)  # makes the primary context and binds it here
        self._driver = driver()
        self._driver.attempt("cuCtxSetLimit", LIMIT_PERSISTING_L2, 0)
        self._start = self._driver.event()
        self._stop = self._driver.event()
        self._clock = perf_counter_ns
        self._shared = SharedMemory(self._driver, gpu)
        self._dirty_next = False
        self._address = 0
        self._gate = 0

    def open(self, handle: ArenaHandle, fds: list[int]) -> None:
        """Map the arena by its IPC handle."""
        del fds
        self._address = self._driver.open(handle.data)
        self._gate = self._address + int.from_bytes(handle.gate, "little")

    def bytes_at(self, offset: int, nbytes: int) -> torch.Tensor:
        """A tensor over a part of the arena."""
        return torch.as_tensor(Span(self._address + offset, nbytes), device=self.torch_device)

    def timed(
        self,
        call: Callable[[], Any],
        gate: int,
        *,
        method: Method,
        channel: Channel,
        wait: Callable[[int], None],
    ) -> tuple[Any, float]:
        """One call behind its gate, by the clock asked for."""
        if method == "cuda_event":
            return self._by_events(call, gate, channel)
        channel.send(Armed(gate=gate))
        wait(gate)
        if method == "do_bench":
            return self._by_do_bench(call)
        if method == "late_event":
            return self._by_late_events(call)
        start = self._clock()
        value = call()
        self._driver.call("cuCtxSynchronize")
        return value, float(self._clock() - start)

    def dirty_next(self) -> None:
        """Let the next call by events find values in shared memory that are none of its own."""
        self._dirty_next = True

    def finish(self) -> None:
        """Wait for the copies of returned values; sticky errors show here too."""
        self._driver.call("cuCtxSynchronize")

    def _by_events(self, call: Callable[[], Any], gate: int, channel: Channel) -> tuple[Any, float]:
        stream = torch.cuda.current_stream().cuda_stream
        self._driver.call("cuStreamWaitValue32_v2", stream, self._gate, gate, WAIT_GEQ)
        if self._dirty_next:
            self._shared.dirty(stream)
            self._dirty_next = False
        self._driver.call("cuEventRecord", self._start, stream)
        channel.send(Armed(gate=gate))
        value = call()
        self._driver.call("cuEventRecord", self._stop, stream)
        channel.send(Launched(gate=gate))
        self._driver.call("cuCtxSynchronize")
        return value, self._driver.elapsed_ns(self._start, self._stop)

    def _by_late_events(self, call: Callable[[], Any]) -> tuple[Any, float]:
        """Events around a call that starts when the gate is open: gaps of launching show."""
        stream = torch.cuda.current_stream().cuda_stream
        self._driver.call("cuEventRecord", self._start, stream)
        value = call()
        self._driver.call("cuEventRecord", self._stop, stream)
        self._driver.call("cuCtxSynchronize")
        return value, self._driver.elapsed_ns(self._start, self._stop)

    def _by_do_bench(self, call: Callable[[], Any]) -> tuple[Any, float]:
        from triton.testing import do_bench

        value = call()
        return value, float(do_bench(call, return_mode="median")) * 1e6
