"""Under which conditions a statement says that its number holds, against those of a row."""

from __future__ import annotations

import re

import msgspec

from kbs_ingest.audit.accounting import Account
from kbs_ingest.audit.knowledge import Fact
from kbs_ingest.audit.model import Citation
from kbs_ingest.audit.parts import one_part, part_misfit, spoken_parts
from kbs_ingest.audit.qualifiers import Qualifiers, clock_behind, qualifiers
from kbs_ingest.audit.runfigures import of_a_run

_SPARSE = re.compile(
    r"\b(?P<no>no|not|non|without|excluding|w/o)?[\s_-]*"
    r"(?:structured[\s_-]+)?(?:sparse|sparsity|2:4)(?![a-z0-9])",
    re.IGNORECASE,
)
_DIE = re.compile(r"(?<![a-z])(?:die|gcd)(?![a-z])", re.IGNORECASE)
_ACCUMULATE = re.compile(
    r"\b(?P<dtype>fp16|fp32|f16|f32|half|int32|s32)[\s_-]*acc(?:um(?:ulat\w*)?)?\b"
    r"|\bacc(?:um(?:ulat\w*)?)?(?:\s+(?:in|with|to|as))?[\s:=_-]*(?P<after>fp16|fp32|f16|f32|int32)\b",
    re.IGNORECASE,
)
_ONE_WAY = re.compile(
    r"\b(?:per|each|one|single|in one)[\s-]+(?:direction|way)\b|unidirectional|\bone-way\b",
    re.IGNORECASE,
)
_BOTH_WAYS = re.compile(
    r"\bboth (?:directions|ways)\b|bidirectional|\btotal of both\b", re.IGNORECASE
)
_DTYPE = {"f16": "fp16", "half": "fp16", "f32": "fp32", "s32": "int32"}


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What a statement says about its number beside chip and metric."""

    sparse: bool
    die: bool
    accumulate: str
    direction: str
    parts: frozenset[str] = frozenset()
    """Words of the parts that it names one by one."""
    one: str = ""
    """The SM or CU that its label speaks of."""
    run: str = ""
    """Words that tell its number of a run."""
    others: Qualifiers = Qualifiers()
    account: Account | None = None
    """The words of the statement, where it has a value."""

    def misfit(self, fact: Fact) -> str:
        """Why the row does not carry the statement, or nothing."""
        basis = fact.basis
        if basis.density == "sparse" and not self.sparse:
            return f"L{fact.line} is a sparse row; the statement does not say sparse"
        if basis.scope == "die" and not self.die:
            return f"L{fact.line} is a row per die; the statement does not say die or GCD"
        stated = basis.accumulate
        if self.accumulate and stated and stated != self.accumulate:
            return f"L{fact.line} is with {stated} accumulate, the statement says {self.accumulate}"
        if self.direction and basis.direction and basis.direction != self.direction:
            told = {"both": "both directions", "one": "one direction"}
            return (
                f"L{fact.line} is for {told[basis.direction]}, "
                f"the statement says {told[self.direction]}"
            )
        part = part_misfit(fact, self.parts, self.one) or self._of_run(fact)
        return (
            part or self.others.misfit(fact) or (self.account.fault(fact) if self.account else "")
        )

    def _of_run(self, fact: Fact) -> str:
        """Why a row of specs carries no figure of a run; a measured row may."""
        if not self.run or not fact.metric or fact.measured:
            return ""
        return f"the statement says {self.run!r}, L{fact.line} states what the hardware has"

    def unexplained(self, fact: Fact) -> tuple[str, ...]:
        """Plain words of the statement that the row does not explain."""
        return self.account.unexplained(fact) if self.account else ()


def without_accumulator(label: str) -> str:
    """A label without its accumulate type, which is no type of the metric."""
    return _ACCUMULATE.sub(" ", label)


def claim_of(citation: Citation, account: Account | None = None) -> Claim:
    """Read the statement: its labels from near to wide, then what stands beside the value."""
    texts = (*citation.labels[:1], citation.beside, *citation.labels[1:])
    sparse = next((found for text in texts if (found := _SPARSE.search(text))), None)
    accumulate = next((found for text in texts if (found := _ACCUMULATE.search(text))), None)
    dtype = (accumulate["dtype"] or accumulate["after"]).casefold() if accumulate else ""
    whole = " ".join(texts)
    direction = "one" if _ONE_WAY.search(whole) else "both" if _BOTH_WAYS.search(whole) else ""
    return Claim(
        sparse=sparse is not None and not sparse["no"],
        die=any(_DIE.search(text) for text in texts),
        accumulate=_DTYPE.get(dtype, dtype),
        direction=direction,
        parts=spoken_parts(citation),
        one=one_part(citation.said.near),
        run=of_a_run(citation),
        others=clock_behind(
            qualifiers("".join(citation.labels[:1]), citation.behind, citation.after),
            citation.behind,
        ),
        account=account,
    )
