"""An output stays what it was until its place is written again: whoever changes it is refused."""

from __future__ import annotations

import dataclasses
import os
from types import SimpleNamespace

import msgspec
import pytest
import torch

from kbs_backends.device import late_writes
from kbs_backends.device.accelerators.host import HostOwner
from kbs_backends.device.arena import Arena
from kbs_backends.device.calls import ArmState, Caller
from kbs_backends.device.checking import finish
from kbs_backends.device.late_writes import StandingOutputs
from kbs_backends.device.layout import Layout, TensorSpec
from kbs_backends.device.live import Ended
from kbs_backends.device.messages import Done
from kbs_backends.device.refusal import Refusal
from kbs_backends.device.task import SLOTS, Values
from kbs_backends.device.verdicts import REMEMBERED
from kbs_backends.device.whose_work import whose_work
from kbs_backends.tasks import OutputSpec, Tolerance
from kbs_engine.jobs import SourceRef
from tests.backends.device.conftest import HONEST

SIZE = 600
"""Elements: two outputs in one slot overlap at any two shifts."""


def _spec(name):
    return TensorSpec(name=name, shape=(SIZE,), stride=(1,), dtype="float32", item_bytes=4)


@pytest.fixture
def arena():
    made = Arena(HostOwner(), Layout(specs=(_spec("x"), _spec("y")), slots=SLOTS))
    yield made
    made.block.free()


def _standing(arena, calls):
    """Bookkeeping of so many calls, and where they were."""
    standing, placements = StandingOutputs(), [arena.place() for _ in range(calls)]
    for number, placement in enumerate(placements):
        placement.views["y"].fill_(number)
        standing.remember(placement, {"y": placement.views["y"].clone()})
    return standing, placements


def test_what_nobody_touched_is_unchanged(arena):
    standing, placements = _standing(arena, SLOTS)
    assert standing.unchanged()
    assert all(standing.leave(placement) for placement in placements)


@pytest.mark.parametrize("call", range(SLOTS))
def test_a_change_in_any_slot_is_seen_in_that_slot_alone(arena, call):
    standing, placements = _standing(arena, SLOTS)
    placements[call].views["y"][7] += 1
    assert not standing.unchanged()
    assert [standing.leave(one) for one in placements] == [n != call for n in range(SLOTS)]


def test_a_slot_is_looked_at_whatever_the_shift(arena):
    standing, placements = _standing(arena, SLOTS)
    placements[0].views["y"][7] += 1
    moved = (arena.place() for _ in range(1000))
    again = next(p for p in moved if p.slot == placements[0].slot and p is not placements[0])
    assert again.begin != placements[0].begin
    assert not standing.leave(again)
    assert standing.leave(again)  # looked at once


def test_inputs_may_change_and_what_the_owner_wrote_itself_is_forgotten(arena):
    standing, placements = _standing(arena, SLOTS)
    placements[0].views["x"][7] += 1
    assert standing.unchanged()
    placements[1].views["y"][7] += 1
    standing.forget(placements[1])
    assert standing.unchanged()


def test_remembering_takes_no_memory_of_its_own():
    assert SLOTS <= REMEMBERED  # the history holds these very tensors


class _Worker:
    """Gives 2 x, or y + 2 x, in this process, which has the arena at hand; keeps its outputs."""

    def __init__(self, arena, *, in_place):
        self.in_place = in_place
        self.pid = os.getpid()
        self.channel = SimpleNamespace(send=lambda message: None)
        self.close_gates = lambda: None
        self.arena = arena
        self.written = []

    def arm(self, call, **_):
        self.call = call

    def done(self, gate, **_):
        if self.call.trial is None:
            x, y = (self._view(one) for one in self.call.tensors)
            torch.add(y if self.in_place else torch.zeros(SIZE), x, alpha=2, out=y)
            self.written.append(y)
        return Ended(Done(gate=gate, device_ns=1.0), 0)

    def _view(self, placed):
        at, spec = placed.offset, placed.spec
        return self.arena.block.bytes[at : at + spec.extent_bytes].view(torch.float32)


class _Calls:
    """A caller with one worker, in this process."""

    def __init__(self, arena, off=(), *, in_place=False):
        written = () if in_place else ("y",)
        task = SimpleNamespace(
            outputs=("y",), written_outputs=written, order=("x", "y"),
            read_tensors=frozenset({"x", "y"}) - set(written),
        )  # fmt: skip
        self.worker = _Worker(arena, in_place=in_place)
        self.arm = ArmState(self.worker, arena, trusted=False)
        self.caller = Caller(HostOwner(), task, frozenset(off))

    def values(self):
        x, y = torch.randn(SIZE), torch.randn(SIZE)
        return Values(
            inputs={"x": x, "y": y}, expected={"y": 2 * x + self.worker.in_place * y},
            specs={"y": OutputSpec(shape=(SIZE,), stride=(1,), dtype="float32", device="cpu")},
            tolerance=Tolerance(atol=1e-5, rtol=1e-5, source="test"),
        )  # fmt: skip

    def call(self):
        return self.caller.call(self.arm, self.values())

    def trial(self):
        return self.caller.trial(self.arm, self.values(), "host_time", "in_place")

    def change(self, back):
        """Write into the output of ``back`` calls ago."""
        self.worker.written[-back][7] += 1

    def settle(self):
        self.caller.settle(self.arm)


def test_a_write_one_call_late_is_met_when_its_slot_is_used_again(arena):
    calls = _Calls(arena)
    calls.call()
    calls.call()
    calls.change(2)
    with pytest.raises(Refusal) as refused:
        calls.call()
    assert refused.value.code == "late_write"


def test_a_write_after_the_last_call_is_met_at_the_end(arena):
    for back in range(1, SLOTS + 1):
        calls = _Calls(arena)
        for _ in range(3):
            calls.call()
        calls.settle()
        calls.change(back)
        with pytest.raises(Refusal) as refused:
            calls.settle()
        assert refused.value.code == "late_write"


def test_the_end_looks_once_more_when_no_thread_is_left(arena):
    calls = _Calls(arena)
    calls.call()
    calls.worker.inspect = lambda **_: calls.change(1)
    with pytest.raises(Refusal) as refused:
        finish(SimpleNamespace(off=frozenset()), calls.caller, calls.arm)
    assert refused.value.code == "late_write"


def test_a_change_met_in_a_watched_call_is_no_answer_about_whose_work_it_is(arena):
    calls = _Calls(arena)
    task = SimpleNamespace(fresh=calls.values, libraries_permitted=False)
    source = SourceRef(sha256="0" * 64, language="triton", name="k.py")
    for _ in range(SLOTS):
        calls.call()
    calls.change(SLOTS)
    with pytest.raises(Refusal) as refused:
        whose_work(task, calls.caller, calls.arm, source, None, frozenset())
    assert refused.value.code == "late_write"


def test_a_call_of_the_harness_looks_first_at_what_it_overwrites(arena):
    calls = _Calls(arena)
    for _ in range(SLOTS):
        calls.call()
    calls.trial()
    calls.change(1)
    with pytest.raises(Refusal) as refused:
        calls.trial()
    assert refused.value.code == "late_write"
    calls.trial()  # each is looked at once
    calls.settle()


def test_at_one_address_every_call_looks_at_the_last(arena):
    arena._move = False
    calls = _Calls(arena, off=("moved_buffers",))
    for _ in range(3):
        calls.call()
    calls.change(1)
    with pytest.raises(Refusal) as refused:
        calls.call()
    assert refused.value.code == "late_write"


def test_an_output_that_is_an_input_too_is_written_by_the_owner_after_the_look(arena):
    calls = _Calls(arena, in_place=True)
    for _ in range(5):
        calls.call()
    calls.settle()
    calls.change(2)
    with pytest.raises(Refusal) as refused:
        calls.call()
    assert refused.value.code == "late_write"


def test_the_switch_lets_it_through(arena):
    calls = _Calls(arena, off=("output_at_stop",))
    for _ in range(4):
        calls.call()
        calls.change(1)
    calls.settle()
    assert not calls.arm.standing.unchanged(), "it was seen, and let through"
    assert len(calls.worker.written) == 4


def test_each_output_is_compared_once(arena, monkeypatch):
    looks = []

    def counted(one, other):
        looks.append(one)
        return torch.equal(one, other)

    monkeypatch.setattr(late_writes, "same_bits", counted)
    calls = _Calls(arena)
    for number in range(6):
        before = len(looks)
        calls.call()
        assert len(looks) - before == (number >= SLOTS)
    calls.settle()
    assert len(looks) == 6


NEXT_CALL = """
kept = []
def run_kernel(x, y, **_):
    honest(x, y)
    if kept:
        kept[0][7] += 1
    kept[:] = [y]
"""
"""A call changes the output of the call before, which was judged and stands in the other slot."""

# Their writes come several calls later and mostly meet a slot in use again, at another shift. What
# meets the time between the owner's copy and the kernel of that call is written over and harms
# nothing; of so many in a row some meet an output that is done, the kernel's inputs or the guards.
LATER = """
import threading, time
def run_kernel(x, y, **_):
    honest(x, y)
    def later(y=y):
        time.sleep(0.03)
        y.add_(1)
    threading.Thread(target=later, daemon=True).start()
"""
SOMETHING_WAS_WRITTEN = {
    "late_write", "wrong_result", "wrong_timed_output", "unwritten_elements", "input_mutated",
    "illegal_access", "nonfinite", "nondeterministic",
}  # fmt: skip


def test_a_check_refuses_what_the_next_call_changes(rig):
    found = rig.check(NEXT_CALL)
    assert (found.reason, len(found.rounds)) == ("late_write", 3)


def test_a_timing_refuses_what_the_next_call_changes(rig):
    timed = rig.time(NEXT_CALL, HONEST)
    assert timed.arms[0].reason == "late_write"
    assert timed.arms[1].reason is None, timed.arms[1].detail


@pytest.mark.parametrize("way", ["check", "time"])
def test_a_write_thirty_milliseconds_late_is_refused(rig, way):
    wide = msgspec.structs.replace(rig.task, dims={"N": 5000})  # two outputs overlap at any shifts
    rig = dataclasses.replace(rig, task=wide)
    if way == "check":
        found = rig.check(LATER, rounds=30)
    else:
        found = rig.time(LATER, HONEST, trials=40).arms[0]
    assert found.reason in SOMETHING_WAS_WRITTEN, found.detail
