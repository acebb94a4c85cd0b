"""Driving the state machine: notes are done, asks answered, and every answer is journaled first.

A job counts as finished once its result is on disk and in the journal; any other answer once
its content is on disk and its event in the journal. So `resume` tells the machine its journal
again and goes on with whatever was in flight; nothing that finished is done twice.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol

import msgspec

from kbs.looping.before_v0 import mending
from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import Result
from kbs_engine.loop.actions import Note, Progress
from kbs_engine.loop.asks import AnyAnswer, AnyAsk, AwaitOrders, JobsDone, RunJobs
from kbs_engine.loop.machine import LoopState, Told, step
from kbs_engine.loop.retelling import ANSWER, retell
from kbs_engine.ports import Device
from kbs_engine.run import RunFolder


class Show(Protocol):
    """Where progress goes."""

    def note(self, progress: Progress) -> None:
        """A stage began or ended."""
        ...

    def jobs(self, ask: RunJobs, left: int) -> None:
        """Jobs are in flight: ``left`` of them still."""
        ...


class Answers(Protocol):
    """What answers every ask but device jobs."""

    def answer(self, ask: Any) -> AnyAnswer | None:
        """The answer; None where nothing can be said yet."""
        ...


Until = Callable[[Progress], bool]


def _told_already(actions: tuple[Any, ...]) -> bool:
    """Whether a run had come to its end and waited for orders: its last notes are long done."""
    return bool(actions) and isinstance(actions[-1], AwaitOrders) and actions[-1].ended


class Driver:
    """One run from where it stands to its end, a wait, or the stage that was asked for."""

    def __init__(
        self,
        run: RunFolder,
        device: Device,
        world: Answers,
        writer: Callable[[Note], None],
        show: Show,
    ) -> None:
        """Nothing is asked before ``go``."""
        self.run = run
        self.device = device
        self.world = world
        self.writer = writer
        self.show = show

    def go(self, until: Until | None = None) -> LoopState:
        """Go on until the run has nothing to ask, or ``until`` says so of a stage that ended.

        Raises:
            KbsError: A gate that refuses, a job that could not be carried out, an agent that
                is waited for; the run stands as it is and is resumed later.
        """
        state, actions = self.where()
        if _told_already(actions):
            actions = tuple(one for one in actions if not isinstance(one, Progress))
        while True:
            if self._do(actions, until) or not state.pending:
                return state
            ask = actions[-1]
            answer = self._answer(ask)
            if answer is None:
                return state
            state, actions = step(state, Told(key=state.pending, answer=answer))

    def where(self) -> tuple[LoopState, tuple[Any, ...]]:
        """The state after everything in the journal, and what is to be done there.

        Notes of finished steps stand on disk already.
        """
        told = retell(self.run)
        return told.state, told.actions

    def _do(self, actions: tuple[Any, ...], until: Until | None) -> bool:
        """Do the notes in order; True when a stage ended at which to stop."""
        stop = False
        for action in actions:
            if isinstance(action, Progress):
                self.show.note(action)
                stop = stop or (until is not None and action.done and until(action))
            elif isinstance(action, Note):
                self.writer(action)
        return stop

    def _answer(self, ask: AnyAsk) -> AnyAnswer | None:
        """Ask the device or the world; the answer is in the journal before it is used."""
        if isinstance(ask, RunJobs):
            done = JobsDone(results=self._jobs(ask))
            self.run.journal.append(ANSWER, ask="jobs", key=ask.key)
            return done
        answer = self.world.answer(ask)
        if answer is None:
            return None
        sha256 = self.run.blobs.put(msgspec.json.encode(answer))
        orders = len(getattr(answer, "orders", ()))
        self.run.journal.append(
            ANSWER, ask=str(type(ask).__struct_config__.tag), key=ask.key, sha256=sha256,
            orders=orders,
        )  # fmt: skip
        return answer

    def _jobs(self, ask: RunJobs) -> tuple[Result, ...]:
        """Results of all jobs; those that finished before a crash are not run again."""
        flying: dict[str, Future[Result]] = {}
        done: dict[str, Result] = {}
        for job in ask.jobs:
            stored = self.run.finished(job)
            if stored is not None and (stored.failure is None or stored.kind in ask.optional):
                done[job.key] = stored
            elif job.key not in flying:
                self.run.job_started(job)
                flying[job.key] = self.device.submit(job)
        for job in ask.jobs:
            if job.key in done:
                continue
            self.show.jobs(ask, sum(not future.done() for future in flying.values()))
            result = flying[job.key].result()
            self.run.job_finished(job, result)
            done[job.key] = result
        results = tuple(done[job.key] for job in ask.jobs)
        for result in results:
            if result.failure is not None and result.kind not in ask.optional:
                raise MeasurementError(
                    f"{ask.what}: {result.failure}",
                    where=str(self.run.root),
                    remedy=mending(self.run, result),
                )
        return results
