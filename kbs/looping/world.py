"""The world as the loop sees it: one answer for every kind of ask but device jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kbs.looping import describing, external, opcode_check, searching, sources
from kbs.looping.advising import advise
from kbs.looping.offers import template_row, unranked
from kbs.looping.waiting import fresh_orders, waiting_text
from kbs.proposers.templates import METHOD
from kbs_engine.errors import MeasurementError, RefusedError
from kbs_engine.gate import Inspectors, Refusal, pass_version
from kbs_engine.loop import asks
from kbs_engine.loop.parts import Offered, Order
from kbs_engine.ports import Proposer
from kbs_engine.proposals import TUNING_METHODS, Candidate, Request
from kbs_engine.run import RunFolder
from kbs_engine.run.memories import Memory
from kbs_engine.shell import shell


class WaitingForAgentError(RefusedError):
    """The next kernel is somebody's to write; the run stands until it is submitted."""


class World(msgspec.Struct, kw_only=True):
    """Everything that answers asks. Only ``answer`` is called by the driver."""

    run: RunFolder
    home: Path | None
    store: Any
    """``kbs_ingest.store.Store``, or None: the run uses no knowledge."""
    proposer: Any
    """``kbs_engine.ports.Proposer``, or None: an agent submits."""
    inspectors: Inspectors
    remember: bool = True
    """Whether outcomes go to the experience log of the home folder."""

    def answer(self, ask: asks.AnyAsk) -> asks.AnyAnswer | None:
        """The answer, or None where nothing can be said yet (the end of a run)."""
        handlers: dict[type[Any], Callable[[Any], Any]] = {
            asks.Describe: lambda one: describing.describe(one, self.store),
            asks.ReadMarks: lambda one: sources.read_marks(one, self.run.blobs),
            asks.Write: lambda one: sources.write_variants(one, self.run.blobs),
            asks.Search: searching.search,
            asks.Advise: self._advise,
            asks.Propose: self._propose,
            asks.JudgeOpcodes: lambda one: opcode_check.judge(one, self.store),
            asks.CheckGate: self._gate,
            asks.Commit: self._commit,
            asks.Remember: self._remember,
            asks.External: lambda one: external.run_external(one, self.run.blobs),
            asks.AwaitOrders: self._orders,
        }
        answer: asks.AnyAnswer | None = handlers[type(ask)](ask)
        return answer

    def _advise(self, ask: asks.Advise) -> asks.Advice:
        marks = sources.read_marks(asks.ReadMarks(source=ask.source), self.run.blobs)
        advice = advise(ask, self.store, self.run.blobs, marks)
        advice = self._with_template(ask, advice)
        if self.store is None:
            advice = self._with_rewrites(ask, advice)
        unwritable = getattr(self.proposer, "unwritable", None)
        if unwritable is None:
            return advice
        names = [row.method for row in (*advice.ranked, *advice.offered)]
        able = unwritable(
            self.run.blobs.text(ask.source.sha256),
            ask.source.language,
            tuple(dict.fromkeys(names)),
            tunable=any(row.method in TUNING_METHODS for row in advice.offered),
        )
        return msgspec.structs.replace(advice, unwritable=able)

    def _with_rewrites(self, ask: asks.Advise, advice: asks.Advice) -> asks.Advice:
        """Without knowledge no method is ranked: whatever the proposer can rewrite is offered."""
        source = getattr(self.proposer, "rewrites", None)
        if source is None:
            return advice
        named = [row.method for row in (*advice.ranked, *advice.offered)]
        more = unranked(source(ask.source.language), [*named, *ask.applied])
        return msgspec.structs.replace(advice, offered=(*advice.offered, *more))

    def _with_template(self, ask: asks.Advise, advice: asks.Advice) -> asks.Advice:
        """A template that computes what the reference does is ranked with the gap at stake."""
        source = getattr(self.proposer, "template", None)
        if source is None or METHOD in ask.applied or advice.roofline.near_peak:
            return advice
        found = source()
        if not found:
            return advice
        row = template_row(found, advice.ranked, advice.roofline.gap)
        rest = [one for one in advice.ranked if one.method != METHOD]
        ranked = tuple(sorted((*rest, row), key=lambda one: (-one.score, one.method)))
        pages = advice.pages
        if self.store is not None and METHOD not in pages:
            known = {method.id: method for method in self.store.methods()}
            pages = {**pages, METHOD: known[METHOD]} if METHOD in known else pages
        return msgspec.structs.replace(advice, ranked=ranked, pages=pages)

    def _propose(self, ask: asks.Propose) -> asks.Proposed:
        if self.proposer is None:
            return self._submitted(ask)
        proposer: Proposer = self.proposer
        text = self.run.blobs.text(ask.base.sha256)
        request = Request(file=ask.file, source=text, attempt=ask.attempt)
        try:
            candidates = proposer.propose(request)
        except MeasurementError as problem:
            self._give_up(ask, problem)
            return asks.Proposed(failure=problem.message)
        return asks.Proposed(candidates=tuple(self._offer(ask, one) for one in candidates))

    def _give_up(self, ask: asks.Propose, problem: MeasurementError) -> None:
        """Stop, resumable, when no try brought a kernel: then no method was tried at all."""
        tried = any(row.branch for row in ask.file.feedback)
        if tried or ask.attempt <= self.run.state().settings.retries:
            return
        raise MeasurementError(
            f"the proposer gave no kernel in {ask.attempt} tries: {problem.message}",
            where=str(self.run.root),
            remedy=f"mend the proposer, then `kbs loop resume {shell(self.run.root)}`",
        ) from problem

    def _offer(self, ask: asks.Propose, candidate: Candidate) -> Offered:
        planned = tuple(row.method for row in ask.file.plan.methods)
        source = sources.described(ask.base, candidate.text, self.run.blobs)
        methods = candidate.methods or planned
        carried = [m for m in methods if m in TUNING_METHODS and m not in source.switches]
        return Offered(
            source=source,
            name=candidate.name,
            methods=methods,
            tuning=carried[0] if carried else "",
            note=candidate.note,
            template=candidate.template,
        )

    def _submitted(self, ask: asks.Propose) -> asks.Proposed:
        """What was submitted for this very ask; until then the run waits."""
        for event in reversed(self.run.journal.of_kind("submitted")):
            if event.data["ask_key"] == ask.key:
                rows = msgspec.convert(event.data["candidates"], tuple[Candidate, ...])
                return asks.Proposed(candidates=tuple(self._offer(ask, one) for one in rows))
        if self._fresh_orders():
            return asks.Proposed(withdrawn=True)
        number = ask.file.version
        text = msgspec.json.format(msgspec.json.encode(ask.file), indent=2).decode()
        self.run.write_text(self.run.version(number).request, text + "\n")
        raise WaitingForAgentError(waiting_text(self.run, ask))

    def _gate(self, ask: asks.CheckGate) -> asks.GatePassed | asks.GateRefused:
        refusals = pass_version(self.run, ask.version, ask.final, self.inspectors)
        if refusals:
            if self._gives_up(ask, refusals):
                why = "; ".join(f"{row.rule}: {row.message}" for row in refusals)
                return asks.GateRefused(why=why)
            told = "\n".join(str(row) for row in refusals)
            raise RefusedError(
                f"the gate refuses v{ask.version}:\n{told}",
                where=str(self.run.root),
                remedy="mend what it names, then `kbs loop resume`",
            )
        return asks.GatePassed()

    def _gives_up(self, ask: asks.CheckGate, refusals: Sequence[Refusal]) -> bool:
        """Whether the end was asked for and nothing else helps the version."""
        asked = any(order.kind == "finalize" for order in self._fresh_orders())
        return asked and all(row.gives_up == ask.version for row in refusals)

    def _commit(self, ask: asks.Commit) -> asks.Committed:
        return asks.Committed(commit=self.run.git.commit(ask.message))

    def _remember(self, ask: asks.Remember) -> asks.Remembered:
        if not self.remember or self.home is None or not ask.outcomes:
            return asks.Remembered(ids=())
        from kbs_ingest.experience import append

        return asks.Remembered(ids=append(self.home, ask.outcomes))

    def _orders(self, ask: asks.AwaitOrders) -> asks.OrdersGiven | None:
        """Orders that no earlier answer took; at the end of a run, None until there is one."""
        fresh = self._fresh_orders()
        if ask.ended and not fresh:
            return None
        return asks.OrdersGiven(orders=fresh, masked=self._masked())

    def _fresh_orders(self) -> tuple[Order, ...]:
        return fresh_orders(self.run)

    def _masked(self) -> tuple[int, ...]:
        memory = Memory(self.run.paths.memory)
        if not self.run.paths.memory.is_dir():
            return ()
        return tuple(n for n in memory.versions() if memory.load(n).masked)
