"""The worker: one forked, hardened process that runs one candidate and reports raw facts."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from kbs_backends.device import faults, returned
from kbs_backends.device.accelerators.base import ArenaHandle, WorkerSide
from kbs_backends.device.candidate import Callee, load
from kbs_backends.device.hardening import harden
from kbs_backends.device.layout import Placed
from kbs_backends.device.messages import (
    Attach,
    Attached,
    CallOnce,
    Done,
    Failed,
    Go,
    Inspect,
    Load,
    Loaded,
    Open,
    Opened,
    StartWorker,
    Stopped,
    ToWorker,
    Trial,
    Up,
)  # fmt: skip
from kbs_backends.device.own_work import Watched
from kbs_backends.device.state import Snapshot
from kbs_backends.device.wire import Channel, ClosedError


def run(message: StartWorker, fds: list[int]) -> int:
    """Run in the child of a fork until the owner has had enough; the exit status."""
    channel = Channel(socket.socket(fileno=_only_these(fds)))
    isolation, listener = harden(
        Path(message.folder),
        message.limits,
        sandbox=message.sandbox and not message.trusted,
        limit_address_space=os.environ.get("KBS_DEVICE_KIND") == "host",
        hidden=[Path(folder) for folder in message.hidden],
    )
    channel.send(Up(isolation=isolation), [listener] if listener >= 0 else [])
    if listener >= 0:
        os.close(listener)
    with contextlib.suppress(ClosedError):
        _Server(channel, message.folder, trusted=message.trusted).serve()
    return 0


def _only_these(fds: list[int]) -> int:
    """Keep stdin (empty), stdout, stderr (files) and the channel; close all the rest."""
    channel, out, err = fds
    empty = os.open(os.devnull, os.O_RDONLY)
    for number, fd in enumerate((empty, out, err)):
        os.dup2(fd, number)
    os.dup2(channel, 3)
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    return 3


class _Server:
    """Answers the owner, one message at a time."""

    def __init__(self, channel: Channel, folder: str, *, trusted: bool) -> None:
        self._channel = channel
        self._folder = folder
        self._trusted = trusted
        self._side: WorkerSide | None = None
        self._callee: Callee | None = None
        self._snapshot = Snapshot()

    def serve(self) -> None:
        """Until the channel is closed."""
        while True:
            message = self._channel.receive(ToWorker)
            try:
                answer = self._answer(message)
            except ClosedError:
                raise
            except BaseException as problem:  # noqa: BLE001 - the boundary to a candidate
                loading = isinstance(message, Load)
                answer = Failed(code=faults.code_of(problem, loading=loading),
                                detail=faults.tell(problem, self._folder))  # fmt: skip
            self._channel.send(answer)

    def _answer(self, message: Any) -> Any:
        if isinstance(message, Open):
            return self._open(message)
        if isinstance(message, Attach):
            return self._attach(message)
        if isinstance(message, Load):
            self._callee = load(message, trusted=self._trusted)
            self._snapshot.forgive_random()
            return Loaded(arguments=self._callee.arguments)
        if isinstance(message, CallOnce):
            return self._call(message)
        if isinstance(message, Inspect):
            return self._snapshot.compare()
        raise RuntimeError(f"{type(message).__name__} out of turn")

    def _open(self, message: Open) -> Opened:
        from kbs_backends.device.accelerators import worker_side

        self._side = worker_side(message.accelerator, message.gpu)
        return Opened()

    def _attach(self, message: Attach) -> Attached:
        if self._side is None:
            raise RuntimeError("an arena before the device was opened")
        handle = ArenaHandle(data=message.arena, nbytes=message.arena_bytes, gate=message.gate)
        self._side.open(handle, self._channel.take_fds())
        return Attached()

    def _wait(self, gate: int) -> None:
        message: Any = self._channel.receive(ToWorker)
        if not isinstance(message, Go) or message.gate != gate:
            raise ClosedError("the owner gave this call up")

    def _call(self, message: CallOnce) -> Done:
        side, callee = self._side, self._callee
        if side is None or (callee is None and message.trial is None):
            raise RuntimeError("a call before anything was loaded")
        tensors = {one.spec.name: (one, _view(side, one)) for one in message.tensors}
        values = {name: one for name, (_, one) in tensors.items()} | message.scalars
        if callee is None or message.trial is not None:
            prepared = _trial(message.trial, [tensors[name][1] for name in message.outputs])
        else:
            prepared = callee.prepare({name: values[name] for name in message.order})
        if message.dirty:
            side.dirty_next()
        watched = Watched(prepared, message.watch) if message.watch else None
        value, device_ns = side.timed(
            watched or prepared, message.gate, method=message.method,
            channel=self._channel, wait=self._wait,
        )  # fmt: skip
        self._channel.send(Stopped(gate=message.gate))
        outputs = {name: (tensors[name][0].spec, tensors[name][1]) for name in message.outputs}
        inputs = [one for name, (_, one) in tensors.items() if name not in message.outputs]
        try:
            copied = returned.deliver(value, outputs, inputs, trusted=self._trusted)
        except returned.BadReturnError as bad:
            return Done(gate=message.gate, device_ns=device_ns, fault=bad.code, detail=str(bad))
        side.finish()
        seen = watched.seen() if watched else None
        return Done(gate=message.gate, device_ns=device_ns, returned=copied > 0, seen=seen)


def _trial(kind: Trial | None, places: list[torch.Tensor]) -> Callable[[], Any]:
    """A call of the harness's own, which gives every output as a kernel would."""

    def in_place() -> None:
        for place in places:
            place.zero_()

    def new() -> list[torch.Tensor]:
        return [
            torch.empty_strided(p.shape, p.stride(), dtype=p.dtype, device=p.device).zero_()
            for p in places
        ]

    return new if kind == "returned" else in_place


def _view(side: WorkerSide, placed: Placed) -> torch.Tensor:
    """The tensor of one argument, with a storage of its own over the arena."""
    spec = placed.spec
    dtype: torch.dtype = getattr(torch, spec.dtype)
    if spec.extent_bytes == 0:
        return torch.empty_strided(spec.shape, spec.stride, dtype=dtype, device=side.torch_device)
    flat = side.bytes_at(placed.offset, spec.extent_bytes).view(dtype)
    return flat.as_strided(spec.shape, spec.stride)
