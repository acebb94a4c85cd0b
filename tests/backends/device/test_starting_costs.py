"""What keeps a timing short: caches of checks, few ticks of the second clock, fills by words."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from kbs_backends.device import kept_cache
from kbs_backends.device.kept_cache import CompiledBefore
from kbs_backends.device.second_clock import DISCARDED, ENOUGH, LEAST, SecondClock
from kbs_backends.tasks import poison
from kbs_engine.jobs import BaselineRef, SourceRef, Task

TASK = Task(reference_sha256="a" * 64, dims={"N": 4})


def source(number: int) -> SourceRef:
    return SourceRef(sha256=f"{number:064x}", language="triton", name="kernel.py")


def left_by_a_worker(folder):
    (folder / "triton" / "key").mkdir(parents=True)
    (folder / "triton" / "key" / "kernel.cubin").write_bytes(b"code")
    return folder


def test_what_a_check_compiled_is_given_to_the_same_source_on_the_same_task_alone(tmp_path):
    before = CompiledBefore()
    before.remember(source(1), TASK, left_by_a_worker(tmp_path), 7.0)
    assert before.of(source(1), TASK) == ({("key", "kernel.cubin"): b"code"}, 7.0)
    other = Task(reference_sha256="a" * 64, dims={"N": 8})
    for arm, task in ((source(2), TASK), (source(1), other), (BaselineRef(name="eager"), TASK)):
        assert before.of(arm, task) == ({}, None)


def test_the_oldest_caches_go(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_cache, "MOST_SOURCES", 2)
    before, folder = CompiledBefore(), left_by_a_worker(tmp_path)
    for number in range(3):
        before.remember(source(number), TASK, folder, 1.0)
    assert [bool(before.of(source(number), TASK)[0]) for number in range(3)] == [False, True, True]


@pytest.mark.parametrize(("rounds", "ticks"), [(4, 4), (20, 20), (40, 20), (100, 20)])
def test_the_second_clock_ticks_as_often_as_it_must(rounds, ticks):
    made = []
    caller = SimpleNamespace(trial=lambda *given: made.append(given) or SimpleNamespace())
    clock = SecondClock(None, caller, None, "cuda_event", rounds=rounds)
    clock.warm_up(None, returned=False)
    assert len(made) == DISCARDED + max(LEAST, ENOUGH - rounds)
    made.clear()
    for number in range(rounds):
        clock.tick(None, number, returned=False)
    assert len(made) == ticks


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.int64, torch.complex128]
)
@pytest.mark.parametrize("shape", [(1001,), (7, 5), (0,)])
def test_random_bits_fill_every_element_of_any_width(dtype, shape):
    out = torch.zeros(shape, dtype=dtype)
    poison({"out": out}, ("out",), "bits", 3)
    raw = out.reshape(-1).view(torch.uint8)
    assert raw.numel() == 0 or len(raw.unique()) > min(raw.numel() // 2, 200)
