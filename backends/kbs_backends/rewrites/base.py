"""What a mechanical rewrite is: it applies or says why not, and it keeps the old behaviour."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import msgspec

from kbs_backends.variants import MarkError, read_marks
from kbs_backends.variants.records import OverlapError
from kbs_engine.vocabulary import Dtype, Language

Dim = int | float | str | bool


class RewriteSource(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel source and what is known about the task it solves."""

    text: str
    language: Language
    arch: str = "sm_90a"
    dims: dict[str, Dim] = msgspec.field(default_factory=dict)
    """Sizes of the task; empty where they are not known."""
    permitted: tuple[Dtype, ...] = ()
    """Precisions in which the arithmetic may be done, beyond that of the inputs."""
    atol: float | None = None
    rtol: float | None = None
    """Tolerances of the task; None where they are not known."""

    @property
    def largest_index(self) -> int | None:
        """Product of all integer sizes: no tensor of the task has more elements, as a rule."""
        sizes = [v for v in self.dims.values() if isinstance(v, int) and not isinstance(v, bool)]
        if not sizes:
            return None
        product = 1
        for size in sizes:
            product *= max(size, 1)
        return product


class Applies(msgspec.Struct, frozen=True):
    """Whether a rewrite applies, and what it would change or what keeps it from applying."""

    ok: bool
    why: str


class NotApplicableError(Exception):
    """Raised inside a rewrite with the reason; ``Rewrite.applies`` turns it into a value."""


class Rewritten(msgspec.Struct, frozen=True):
    """The new source and, in a few words, what was changed."""

    text: str
    what: str


class Rewrite(Protocol):
    """One method for one language, carried out on the syntax tree."""

    @property
    def method(self) -> str:
        """Id of the method, which is the name of the module too."""
        ...

    def applies(self, source: RewriteSource) -> Applies:
        """Say whether ``apply`` would change this source, and why or why not."""
        ...

    def apply(self, source: RewriteSource) -> str:
        """Return the source with a ``kbs:method`` switch that is on.

        Switched off, the old code runs.

        Raises:
            NotApplicableError: ``applies`` would say no.
        """
        ...


class ModuleRewrite(msgspec.Struct, frozen=True):
    """A rewrite whose one function does the work or raises the reason why not."""

    method: str
    rewrite: Callable[[RewriteSource], Rewritten]

    def applies(self, source: RewriteSource) -> Applies:
        """Try it; see ``Rewrite.applies``."""
        try:
            return Applies(ok=True, why=self._rewritten(source).what)
        except NotApplicableError as reason:
            return Applies(ok=False, why=str(reason))

    def apply(self, source: RewriteSource) -> str:
        """Do it; see ``Rewrite.apply``."""
        return self._rewritten(source).text

    def _rewritten(self, source: RewriteSource) -> Rewritten:
        done = _tried(self, _Asked(repr(source), source))
        if isinstance(done, str):
            raise NotApplicableError(done)
        return done

    def carry_out(self, source: RewriteSource) -> Rewritten:
        """Do it anew, without what is remembered of an earlier call.

        Raises:
            NotApplicableError: It does not apply.
        """
        if re.search(rf"kbs:method {self.method}\b", source.text):
            raise NotApplicableError("it has been applied already")
        try:
            done = self.rewrite(source)
        except MarkError as problem:
            raise NotApplicableError(f"the source cannot be read: {problem}") from problem
        except OverlapError as problem:
            raise NotApplicableError(f"its changes fall into each other: {problem}") from problem
        self._require_readable(done.text, source)
        return done

    def _require_readable(self, text: str, source: RewriteSource) -> None:
        """Refuse a result that does not parse or has lost a mark: wrong code is worse than none."""
        try:
            methods = read_marks(text, source.language).methods()
        except MarkError as problem:
            raise NotApplicableError(f"the result cannot be read: {problem}") from problem
        if not methods.get(self.method, False):
            raise NotApplicableError("the result has no switch for it")


@dataclass(frozen=True)
class _Asked:
    """A source as a key: its dims are a dict, which has no hash."""

    key: str
    source: RewriteSource = field(compare=False)


@lru_cache(maxsize=16)
def _tried(rewrite: ModuleRewrite, asked: _Asked) -> Rewritten | str:
    """The result, or why there is none: who asks whether it applies asks for it next."""
    try:
        return rewrite.carry_out(asked.source)
    except NotApplicableError as reason:
        return str(reason)
