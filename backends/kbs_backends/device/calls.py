"""One call of one worker, from fresh arguments to verified outputs and two clocks.

Order: look again at the outputs of the call whose place this one takes → make inputs, poisoned
outputs and guards ready where no worker sees them → arm (the call stands before its gate, its
launches queued where the device allows) → bring them to the arena in one copy → flush the cache
→ clock → open the gate → done → clock → copy the outputs at once → compare. Inputs are final only
when the gate opens.
"""

from __future__ import annotations

import itertools
import secrets
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from kbs_backends.device.accelerators import OwnerSide
from kbs_backends.device.arena import Arena, Placement, same_bits
from kbs_backends.device.decoys import Decoys, explains
from kbs_backends.device.late_writes import StandingOutputs
from kbs_backends.device.live import LiveWorker
from kbs_backends.device.messages import CallOnce, Done, Method, Seen, Trial, WatchMode
from kbs_backends.device.refusal import Refusal, claimed
from kbs_backends.device.task import LoadedTask, Values
from kbs_backends.device.verdicts import History, judge
from kbs_backends.tasks import Difference

if TYPE_CHECKING:
    import torch


_GATES = itertools.count(1)
"""No gate has a number twice: a worker may outlive who called it first."""
_MAYBE_EARLY = ("wrong_result", "wrong_timed_output", "nonfinite")


class CallFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What one verified call took."""

    device_ns: float
    whole_ns: float
    """The owner's clock, from opening the gate to the worker's last word."""
    stopped_ns: float
    """The same until the worker said that the device is done: returned outputs are copied later."""
    difference: Difference | None
    """None where comparing is switched off."""
    returned: bool = False
    """Whether outputs were returned, and copied after the device's clock had stopped."""
    seen: Seen | None = None
    """Of a watched call: what the worker says that it did."""

    @property
    def host_ns(self) -> float:
        """The call by the owner's clock, without the harness's own copying."""
        return self.stopped_ns if self.returned else self.whole_ns


class _Ran(NamedTuple):
    """One call as it went."""

    done: Done
    stopped_ns: float
    whole_ns: float
    decoys: Decoys | None

    def facts(self, difference: Difference | None) -> CallFacts:
        """With what the comparison found."""
        return CallFacts(
            device_ns=self.done.device_ns, stopped_ns=self.stopped_ns, whole_ns=self.whole_ns,
            difference=difference, returned=self.done.returned, seen=self.done.seen,
        )  # fmt: skip


class ArmState:
    """What the owner holds and remembers of one worker: its arena, its earlier outputs."""

    def __init__(self, worker: LiveWorker, arena: Arena, *, trusted: bool) -> None:
        """Nothing was called yet."""
        self.worker = worker
        self.arena = arena
        self.trusted = trusted
        self.history = History()
        self.called = False
        self.cold_ns: float | None = None
        """The first call by the owner's clock."""
        self.notes: list[str] = []
        self.standing = StandingOutputs()


class Caller:
    """Makes calls of any worker on one task."""

    def __init__(self, side: OwnerSide, task: LoadedTask, off: frozenset[str]) -> None:
        """``off`` are defences that a test has switched off."""
        self._side = side
        self._task = task
        self._off = off
        self._hidden = frozenset[str]()
        if "decoy_inputs" not in off:
            self._hidden = task.read_tensors
        """Tensors that hold decoys until the gate opens."""

    def trial(self, arm: ArmState, values: Values, method: Method, kind: Trial) -> CallFacts:
        """A timed call of the harness's own on these values: what the clocks themselves take.

        It goes the whole way of a candidate's timed call, as filling and flushing decide in
        what state the device is when the gate opens.
        """
        placement = self._place(arm)
        call = self._message(placement, {}, method, trial=kind)
        arm.arena.write(placement, values.inputs)
        decoys = arm.arena.plant(placement, self._hidden)
        return self._run(arm, call, placement, decoys, first=False, flush=True).facts(None)

    def call(
        self,
        arm: ArmState,
        values: Values,
        *,
        method: Method = "cuda_event",
        timed: bool = False,
        repeated: bool = False,
        watch: WatchMode = "",
    ) -> CallFacts:
        """One call on these values; Refusal when the candidate is at fault.

        ``repeated`` says that this worker has seen these very values before.
        """
        placement = self._place(arm)
        scalars = {n: v for n, v in values.inputs.items() if n not in placement.views}
        dirty = not timed and "dirty_shared_memory" not in self._off
        call = self._message(placement, scalars, method, watch=watch, dirty=dirty)
        first, arm.called = not arm.called, True
        arm.arena.write(placement, values.inputs)
        poison = self._poison(arm, placement, plausible=not repeated)
        decoys = arm.arena.plant(placement, self._hidden)
        ran = self._run(arm, call, placement, decoys, first=first, flush=timed)
        outputs = {name: _copied(placement.views[name]) for name in self._task.outputs}
        arm.standing.remember(placement, outputs)
        if first and not arm.trusted:
            arm.worker.close_gates()
        try:
            difference = self._verify(arm, values, placement, outputs, poison, timed=timed)
        except Refusal as refusal:
            if ran.decoys is not None and refusal.code in _MAYBE_EARLY:
                self._computed_ahead(arm, values, placement, outputs, ran.decoys, refusal)
            raise
        facts = ran.facts(difference)
        if first:
            arm.cold_ns = facts.host_ns
        return facts

    def settle(self, arm: ArmState) -> None:
        """Look again at all outputs that still stand: nothing may have written since."""
        self._refuse_late(unchanged=arm.standing.unchanged())

    def _place(self, arm: ArmState) -> Placement:
        placement = arm.arena.place()
        self._refuse_late(unchanged=arm.standing.leave(placement))
        return placement

    def _refuse_late(self, *, unchanged: bool) -> None:
        if not unchanged and "output_at_stop" not in self._off:
            raise Refusal("late_write", "an output changed after its call was done")

    def _message(
        self,
        placement: Placement,
        scalars: dict[str, Any],
        method: Method,
        *,
        trial: Trial | None = None,
        watch: WatchMode = "",
        dirty: bool = False,
    ) -> CallOnce:
        return CallOnce(
            gate=next(_GATES), tensors=placement.tensors, scalars=scalars, order=self._task.order,
            outputs=self._task.outputs, method=method, trial=trial, watch=watch,
            dirty=dirty,
        )  # fmt: skip

    def _run(
        self,
        arm: ArmState,
        call: CallOnce,
        placement: Placement,
        decoys: Decoys | None,
        *,
        first: bool,
        flush: bool = False,
    ) -> _Ran:
        side, worker = self._side, arm.worker
        queued = side.queues_launches and call.method == "cuda_event"
        worker.arm(call, first=first, waits_for_launch=queued)
        arm.arena.commit(placement)
        if flush and "l2_flush" not in self._off:
            side.flush_cache()
        side.synchronize()
        starved = side.starved_ns(worker.pid)
        if decoys is not None:
            arm.arena.reveal(decoys)
            if call.method != "cuda_event":
                side.synchronize()  # this gate is a message, which knows no stream order
        start = time.perf_counter_ns()
        arm.arena.block.release(call.gate, worker.channel, call.method)
        ended = worker.done(call.gate, first=first)
        whole_ns = float(time.perf_counter_ns() - start)
        stopped_ns = float(ended.stopped_ns - start)
        done = ended.done
        if starved := side.starved_ns(worker.pid) - starved:
            # waits inside the call are in both clocks, those around it in the owner's alone
            whole_ns = max(whole_ns - starved, min(whole_ns, done.device_ns))
            stopped_ns = max(stopped_ns - starved, min(stopped_ns, done.device_ns))
        if done.fault and not {"exact_metadata", "raw_bytes"} & self._off:
            raise claimed(done.fault, done.detail)
        return _Ran(ended.done, stopped_ns, whole_ns, decoys)

    def _computed_ahead(
        self,
        arm: ArmState,
        values: Values,
        placement: Placement,
        outputs: dict[str, torch.Tensor],
        decoys: Decoys,
        refusal: Refusal,
    ) -> None:
        """Refusal with its own reason when the result is that of the decoys."""
        before = arm.arena.as_before_the_gate(placement, values.inputs, decoys, self._hidden)
        arm.standing.forget(placement)
        if explains(self._task, before, values, outputs):
            raise Refusal(
                "early_read", "the result is that of values that stood there before the call"
            ) from refusal

    def _poison(
        self, arm: ArmState, placement: Placement, *, plausible: bool
    ) -> dict[str, torch.Tensor]:
        """Fill the outputs, differently every time; now and then with plausible old values."""
        from kbs_backends.tasks import POISONS, poison

        outputs = self._task.written_outputs
        if "poisoned_outputs" in self._off:
            return {}
        older = arm.history.latest()
        if older and plausible and secrets.randbelow(4) == 0:
            for name in outputs:
                placement.staged[name].copy_(older[name])
                _mark(placement.staged[name])
        else:
            pattern = POISONS[secrets.randbelow(len(POISONS))]
            poison(placement.staged, outputs, pattern, secrets.randbits(31))
        return {name: placement.staged[name].clone() for name in outputs}

    def _verify(
        self,
        arm: ArmState,
        values: Values,
        placement: Placement,
        outputs: dict[str, torch.Tensor],
        poison: dict[str, torch.Tensor],
        *,
        timed: bool,
    ) -> Difference | None:
        if not arm.arena.guards_hold(placement):
            raise Refusal("illegal_access", "memory beside the arguments was written")
        if not arm.trusted and "input_hash" not in self._off:
            self._unchanged(values, placement)
        if timed and "timed_outputs" in self._off:
            return None
        return judge(arm.history, values, outputs, poison, timed=timed)

    def _unchanged(self, values: Values, placement: Placement) -> None:
        import torch

        for name, value in values.inputs.items():
            if name in self._task.outputs or not isinstance(value, torch.Tensor):
                continue
            if not same_bits(placement.views[name], value):
                raise Refusal("input_mutated", name)


def _copied(view: torch.Tensor) -> torch.Tensor:
    """A copy in the very layout: ``clone`` closes the gaps of a strided buffer."""
    import torch

    copy = torch.empty_strided(view.shape, view.stride(), dtype=view.dtype, device=view.device)
    return copy.copy_(view)


def _mark(view: torch.Tensor) -> None:
    """Change the lowest bit of one element drawn in secret.

    An old value that was left alone then differs from one that was written again: the first
    holds the mark, the second does not.
    """
    if view.numel() == 0:
        return
    at = tuple(secrets.randbelow(size) for size in view.shape)
    import torch

    element = view[at].reshape(1).clone()
    element.view(torch.uint8)[0] ^= 1
    view[at] = element[0]
