"""``step(state, event) -> (state, actions)``: the loop with no clock, no file and no GPU.

The rules of the loop are written once, in order, as a script that yields what it asks and is
sent the answers (``script``). The state of the machine is what it was begun with and every
answer so far; the same history always leads to the same asks and notes. So a killed run is
resumed by telling it its journal again, and no rule for that exists anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from kbs_engine.errors import StoreError
from kbs_engine.loop.actions import Begin, Note
from kbs_engine.loop.asks import AnyAnswer, Ask
from kbs_engine.loop.ledger import Ledger
from kbs_engine.loop.script import run_script

Script = Callable[[Ledger], Generator["Ask | Note", Any, Any]]


@dataclass(frozen=True)
class LoopState:
    """A run as data: how it began and what it was told. Equal histories are equal states."""

    begin: Begin
    answers: tuple[tuple[str, AnyAnswer], ...] = ()
    """Key of the ask and its answer, in order."""
    pending: str = ""
    """Key of the ask that waits for an answer; empty when the run has nothing to ask."""
    live: _Live | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Told:
    """An event: the answer to the ask of this key."""

    key: str
    answer: AnyAnswer


class _Live:
    """The script of one state, standing at its pending ask. Used up by the next step."""

    def __init__(self, begin: Begin, script: Script) -> None:
        self.ledger = Ledger(begin)
        self.script = script
        self.running = script(self.ledger)
        self.used = False

    def advance(self, answer: AnyAnswer | None) -> tuple[tuple[Ask | Note, ...], str]:
        """Send an answer; the notes up to the next ask, and that ask's key."""
        actions: list[Ask | Note] = []
        sent: Any = answer
        while True:
            try:
                action = self.running.send(sent)
            except StopIteration:
                return tuple(actions), ""
            actions.append(action)
            if isinstance(action, Ask):
                return tuple(actions), action.key
            sent = None


def begin_run(
    begin: Begin, script: Script = run_script
) -> tuple[LoopState, tuple[Ask | Note, ...]]:
    """The state of a run that was told nothing yet, and its first actions."""
    live = _Live(begin, script)
    actions, pending = live.advance(None)
    return LoopState(begin=begin, pending=pending, live=live), actions


def step(state: LoopState, event: Told) -> tuple[LoopState, tuple[Ask | Note, ...]]:
    """The next state and what is to be done: notes first, an ask last.

    Raises:
        StoreError: The event answers another ask than the one that is pending: the history is
            of another version of the loop, or was changed.
    """
    if event.key != state.pending:
        raise StoreError(
            "the journal answers another question than the one that is asked",
            remedy="resume the run with the version of kbs that began it (state.json names it)",
        )
    live = state.live
    if live is None or live.used:
        live = replay(state)
    live.used = True
    following = _moved(live)
    actions, pending = following.advance(event.answer)
    answers = (*state.answers, (event.key, event.answer))
    return LoopState(begin=state.begin, answers=answers, pending=pending, live=following), actions


def _moved(live: _Live) -> _Live:
    """The same running script under a new owner, so that a state is never advanced twice."""
    following = _Live.__new__(_Live)
    following.ledger, following.running = live.ledger, live.running
    following.script, following.used = live.script, False
    return following


def replay(state: LoopState, script: Script | None = None) -> _Live:
    """The script standing where ``state`` does, from its history alone."""
    chosen = script or (state.live.script if state.live else run_script)
    live = _Live(state.begin, chosen)
    live.advance(None)
    for _, answer in state.answers:
        live.advance(answer)
    return live
