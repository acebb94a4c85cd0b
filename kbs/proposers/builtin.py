"""The builtin proposer: switches, mechanical rewrites and tunables; no language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kbs.proposers.templates import METHOD, TemplateSource
from kbs_engine.errors import InputError
from kbs_engine.jobs import Task
from kbs_engine.proposals import TUNING_METHODS, Candidate, Request
from kbs_engine.vocabulary import Language


class Ability(msgspec.Struct, frozen=True, kw_only=True):
    """How a method can be written here, or why it cannot."""

    how: str = ""
    """``switch``, ``rewrite``, ``tunables`` or ``template``; empty when it cannot."""
    why: str = ""


class BuiltinProposer:
    """Writes what the plan asks for by the means at hand, and says what it cannot write."""

    def __init__(
        self, task: Task, *, arch: str = "", template: TemplateSource | None = None
    ) -> None:
        """Keep what rewrites need to know of the task; ``template`` is None when switched off."""
        self.task = task
        self.arch = arch
        self.template = template

    def rewrites(self, language: Language) -> tuple[str, ...]:
        """Methods that it has a rewrite of, whether they apply to a source or not."""
        from kbs_backends.rewrites import all_rewrites

        return tuple(all_rewrites(language))

    def unwritable(
        self, text: str, language: Language, methods: Sequence[str], *, tunable: bool
    ) -> dict[str, str]:
        """Of ``methods`` (best first) those that it cannot write here, each with the reason."""
        able = self.abilities(text, language, methods, tunable=tunable)
        return {method: row.why for method, row in able.items() if not row.how}

    def abilities(
        self, text: str, language: Language, methods: Sequence[str], *, tunable: bool
    ) -> dict[str, Ability]:
        """What can be written of each method, best first."""
        switches = _switches(text, language)
        found: dict[str, Ability] = {}
        carrier = ""
        for method in methods:
            if method in switches:
                on = switches[method]
                why = "its switch is on already" if on else ""
                found[method] = Ability(how="" if on else "switch", why=why)
            elif method in TUNING_METHODS:
                found[method] = _tuning(carrier, tunable=tunable)
                carrier = carrier or (method if tunable else "")
            elif method == METHOD and self.template is not None:
                there = bool(self.template())
                why = "" if there else f"no template fits: {self.template.why_not}"
                found[method] = Ability(how="template" if there else "", why=why)
            else:
                found[method] = self._rewrite(text, language, method)
        return found

    def _rewrite(self, text: str, language: Language, method: str) -> Ability:
        from kbs_backends.rewrites import all_rewrites

        rewrite = all_rewrites(language).get(method)
        if rewrite is None:
            return Ability(why=f"the builtin proposer has no rewrite of it for {language}")
        answer = rewrite.applies(self._source(text, language))
        if answer.ok:
            return Ability(how="rewrite", why=answer.why)
        return Ability(why=f"its rewrite does not apply: {answer.why}")

    def _source(self, text: str, language: Language) -> Any:
        from kbs_backends.rewrites import RewriteSource

        return RewriteSource(
            text=text,
            language=language,
            arch=self.arch or "sm_90a",
            dims=self.task.dims,
            permitted=self.task.permitted,
            atol=self.task.atol,
            rtol=self.task.rtol,
        )

    def propose(self, request: Request) -> Sequence[Candidate]:
        """The planned methods in one source, and templates beside it where those are planned.

        After a failed try every method is tried alone.
        """
        planned = [row.method for row in request.file.plan.methods]
        language = request.file.contract.language
        candidates: list[Candidate] = []
        if METHOD in planned and self.template is not None:
            if request.attempt == 1:
                candidates += self.template()
            planned = [method for method in planned if method != METHOD]
        if request.attempt > 1:
            alone = request.attempt - 2
            if len(planned) < 2 or alone >= len(planned):  # noqa: PLR2004 - one was tried alone
                return []
            planned = [planned[alone]]
        candidate = self._written(request.source, language, planned)
        return [*candidates, candidate] if candidate is not None else candidates

    def _written(self, text: str, language: Language, planned: Sequence[str]) -> Candidate | None:
        held: list[str] = []
        notes: list[str] = []
        for method in planned:
            changed, note = self._one(text, language, method)
            if note:
                notes.append(f"{method}: {note}")
            if changed is not None:
                text = changed
                held.append(method)
        if not held:
            return None
        return Candidate(text=text, name="builtin", methods=tuple(held), note="; ".join(notes))

    def _one(self, text: str, language: Language, method: str) -> tuple[str | None, str]:
        """The text with one method more, or None with the reason."""
        from kbs_backends.rewrites import NotApplicableError, all_rewrites
        from kbs_backends.variants import write_variant

        if method in _switches(text, language):
            try:
                return write_variant(text, language, {}, {method: True}), "switched on"
            except InputError as problem:
                return None, str(problem)
        if method in TUNING_METHODS:
            return text, "by the tunables of the source"
        rewrite = all_rewrites(language).get(method)
        if rewrite is None:
            return None, f"no rewrite for {language}"
        try:
            return rewrite.apply(self._source(text, language)), "rewritten"
        except NotApplicableError as reason:
            return None, str(reason)


def _tuning(carrier: str, *, tunable: bool) -> Ability:
    if not tunable:
        return Ability(why="the source has no tunable with a value untried")
    if carrier:
        return Ability(why=f"the same tunables carry out {carrier}")
    return Ability(how="tunables")


def _switches(text: str, language: Language) -> Mapping[str, bool]:
    from kbs_backends.variants import read_marks

    try:
        return read_marks(text, language).methods()
    except InputError:
        return {}
