"""Laws of the parts: the arena's layout, the wire, the filter, the supervisor's answers."""

from __future__ import annotations

import os
import socket
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs_backends.device.faults import code_of
from kbs_backends.device.kernel_calls import numbers
from kbs_backends.device.layout import ALIGN_BYTES, CANARY_BYTES, Layout, TensorSpec, canaries
from kbs_backends.device.messages import Done, FromWorker
from kbs_backends.device.refusal import claimed
from kbs_backends.device.seccomp import program
from kbs_backends.device.single_call import main as single_call
from kbs_backends.device.supervisor import Supervisor
from kbs_backends.device.wire import Channel, ClosedError, SilenceError, WireError, pair
from kbs_engine.refusals import REASONS
from tests.backends.device.conftest import HEAD, HONEST, REFERENCE

SPECS = st.lists(
    st.tuples(st.lists(st.integers(0, 9), max_size=3), st.sampled_from((1, 2, 4, 8))),
    min_size=1, max_size=5,
)  # fmt: skip


def _spec(number, shape, item_bytes):
    stride, step = [], 1
    for size in reversed(shape):
        stride.insert(0, step)
        step *= max(1, size)
    return TensorSpec(name=f"t{number}", shape=tuple(shape), stride=tuple(stride),
                      dtype="float32", item_bytes=item_bytes)  # fmt: skip


@given(SPECS, st.integers(1, 3), st.integers(0, 20), st.integers(0, 20))
def test_arguments_and_guards_tile_a_slot_without_touching(specs, slots, slot, shift):
    layout = Layout(specs=tuple(_spec(i, *one) for i, one in enumerate(specs)), slots=slots)
    placed = layout.place(slot, shift)
    spans = [(p.offset, p.offset + p.spec.extent_bytes) for p in placed if p.spec.extent_bytes]
    guards = [(begin, begin + size) for begin, size in canaries(placed)]
    every = sorted(spans + guards)
    assert all(a[1] <= b[0] for a, b in pairwise(every))
    low = (slot % slots) * layout.slot_bytes
    assert every[0][0] >= low
    assert every[-1][1] <= low + layout.slot_bytes <= layout.total_bytes
    assert all(p.offset % ALIGN_BYTES == 0 for p in placed)
    assert all(size >= CANARY_BYTES for _, size in canaries(placed))


def test_an_address_changes_and_comes_back():
    layout = Layout(specs=(_spec(0, [4], 4),), slots=2)
    offsets = [layout.place(call, call // 2)[0].offset for call in range(32)]
    assert len(set(offsets)) == 16
    assert all(a != b for a, b in pairwise(offsets))


def test_messages_keep_their_bounds_and_descriptors():
    ours, theirs = pair()
    other = Channel(theirs)
    read, write = os.pipe()
    ours.send(Done(gate=7, device_ns=1.5), [read])
    assert other.receive(FromWorker, 1.0) == Done(gate=7, device_ns=1.5)
    for fd in (*other.take_fds(), read, write):
        os.close(fd)
    with pytest.raises(SilenceError):
        other.receive(FromWorker, 0.01)
    theirs.sendall(b"\x03\x00\x00\x00abc")
    with pytest.raises(WireError):
        ours.receive(FromWorker, 1.0)
    other.close()
    with pytest.raises(ClosedError):
        ours.receive(FromWorker, 1.0)
    ours.close()


def test_a_message_that_is_too_long_is_refused_before_it_is_read():
    left, right = socket.socketpair()
    left.sendall(b"\xff\xff\xff\x7f")
    channel = Channel(right, limit_bytes=1000)
    with pytest.raises(WireError, match="a message of"):
        channel.receive(FromWorker, 1.0)
    left.close()
    channel.close()


def test_every_jump_of_the_filter_stays_inside():
    steps = program(1234)
    for at, (code, yes, no, _) in enumerate(steps):
        if code in (0x15, 0x45):
            assert at + 1 + max(yes, no) < len(steps)
    assert steps[-1][0] == 0x06


@pytest.mark.parametrize(
    ("name", "first", "may_fork", "allowed", "code"),
    [
        ("clone", 0, True, True, None),
        ("clone", 0, False, False, "forked"),
        ("kill", 55, True, True, None),
        ("kill", 99, True, False, "sandbox_violation"),
        ("kill", 0xFFFFFFFF, True, False, "sandbox_violation"),
        ("socket", 2, True, False, "sandbox_violation"),
        ("socket", 16, True, False, None),
        ("ptrace", 0, True, False, "sandbox_violation"),
    ],
)
def test_what_the_supervisor_says(name, first, may_fork, allowed, code):
    assert name in numbers()
    supervisor = Supervisor(-1, lambda: frozenset({55}))
    supervisor.may_fork = may_fork
    said, offence = supervisor._judge(name, first)
    assert said is allowed
    assert (offence.code if offence else None) == code


def test_claims_of_a_worker_carry_registered_codes_alone():
    assert claimed("crashed", "").code == "crashed"
    assert claimed("all is well", "").code == "forged_result"
    for problem, code in (
        (MemoryError(), "out_of_memory"),
        (OSError(27, "File too large"), "wrote_too_much"),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), "illegal_access"),
        (RuntimeError("CUDA error: invalid configuration argument"), "launch_failed"),
        (SystemExit(0), "exited"),
        (ValueError("no"), "raised"),
    ):
        assert code_of(problem, loading=False) == code
        assert code in REASONS


def test_the_program_under_a_profiler_makes_its_call(tmp_path, monkeypatch):
    called = tmp_path / "calls"
    (tmp_path / "ref.py").write_text(REFERENCE)
    count = f"    with open({str(called)!r}, 'a') as f:\n        f.write('1')\n"
    (tmp_path / "k.py").write_text(HEAD + HONEST + count)
    dims = msgspec.json.encode({"N": 9}).decode()
    files = [str(tmp_path / "k.py"), str(tmp_path / "ref.py")]
    argv = [*files, dims, "--language", "triton", "--device", "cpu", "--no-warm"]
    assert single_call(argv) == 0
    assert called.read_text() == "1"
    assert single_call([files[0], files[0], *argv[2:]]) == 2
