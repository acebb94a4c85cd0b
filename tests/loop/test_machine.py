"""The machine itself: the same history is the same state, whatever was done in between."""

from __future__ import annotations

import msgspec
import pytest

from kbs_engine.errors import StoreError
from kbs_engine.jobs import Result, SourceRef
from kbs_engine.loop.actions import Begin, Note, Progress, SaveState
from kbs_engine.loop.asks import Describe, Described, JobsDone, RunJobs
from kbs_engine.loop.machine import Told, begin_run, step
from kbs_engine.results import Checked, Counted, Machine, Round
from kbs_engine.run.records import Settings
from kbs_engine.work import Work

MACHINE = Machine(device="host", gpu="a CPU", counters=False, counters_why_not="no GPU")


def start() -> Begin:
    settings = Settings(language="triton", dims={"M": 4}, kernel_suffix=".py", iterations=1)
    return Begin(
        run_id="run", created_at="2026-01-05T10:00:00+00:00", name="kernel",
        baseline=SourceRef(sha256="1" * 64, language="triton", name="kernel.py"),
        reference_sha256="2" * 64, settings=settings,
    )  # fmt: skip


def done(ask: RunJobs, *values: msgspec.Struct) -> JobsDone:
    return JobsDone(
        results=tuple(
            Result(
                job_key=job.key, kind=job.__struct_config__.tag, value=msgspec.to_builtins(value)
            )
            for job, value in zip(ask.jobs, values, strict=True)
        )
    )


def to_the_check():
    """The run up to the check of its baseline, with every event on the way."""
    state, actions = begin_run(start())
    events = []
    answers = (
        lambda ask: done(ask, MACHINE),
        lambda ask: done(ask, Counted(work=Work(), flops_from="unknown", bytes_from="unknown")),
        lambda ask: Described(notes=("measured on a host",)),
    )
    for answer in answers:
        event = Told(key=state.pending, answer=answer(actions[-1]))
        events.append(event)
        state, actions = step(state, event)
    return state, actions, events


def test_a_run_begins_with_what_the_machine_is():
    _, actions = begin_run(start())
    assert isinstance(actions[-1], RunJobs)
    assert actions[-1].what == "probe"
    assert all(isinstance(one, Note) for one in actions[:-1])


def test_the_machine_decides_mode_and_device():
    _, actions, _ = to_the_check()
    saved = [one for one in actions if isinstance(one, SaveState)][-1].state
    assert saved.settings.device_kind == "host"
    assert saved.settings.mode == "counter-free"
    assert actions[-1].what == "check the baseline"


def test_the_same_history_is_the_same_state_and_asks_the_same():
    one, actions, events = to_the_check()
    two, again = begin_run(start())
    for event in events:
        two, again = step(two, event)
    assert one == two
    assert again == actions


def test_a_state_may_be_advanced_twice():
    state, actions, _ = to_the_check()
    ask = actions[-1]
    wrong = Checked(passed=False, reason="wrong_result", detail="all of it")
    right = Checked(
        passed=True, rounds=(Round(distribution="normal", compared_elements=4, ok=True),)
    )
    refused, _ = step(state, Told(key=state.pending, answer=done(ask, wrong)))
    accepted, following = step(state, Told(key=state.pending, answer=done(ask, right)))
    assert refused != accepted
    assert following[-1].what == "time the baseline"


def test_a_wrong_baseline_ends_the_run_with_its_reason():
    state, actions, _ = to_the_check()
    wrong = Checked(passed=False, reason="wrong_result", detail="all of it")
    state, actions = step(state, Told(key=state.pending, answer=done(actions[-1], wrong)))
    assert state.pending == ""
    saved = [one for one in actions if isinstance(one, SaveState)][-1].state
    assert saved.ended == "stopped"
    assert "wrong_result: all of it" in saved.loop["because"]
    assert [one for one in actions if isinstance(one, Progress)][-1].done


def test_a_missing_spec_ends_the_run_and_asks():
    state, actions, events = to_the_check()
    state, actions = begin_run(start())
    for event in events[:-1]:
        state, actions = step(state, event)
    assert isinstance(actions[-1], Describe)
    told = Described(chip="h20", missing=("l2_size",))
    state, actions = step(state, Told(key=state.pending, answer=told))
    assert state.pending == ""
    saved = [one for one in actions if isinstance(one, SaveState)][-1].state
    assert saved.ended == "environment"
    assert "l2_size" in saved.loop["because"]
    assert "--placeholder" in saved.loop["because"]


def test_an_answer_to_another_question_is_refused():
    state, _, events = to_the_check()
    with pytest.raises(StoreError, match="another question"):
        step(state, events[0])
