"""Which opcodes prove that an optimization is in the binary, and the verdict on one function.

A signature says, per architecture, what must stand in the disassembly of a kernel.
Parsed opcodes are matched, never text: a function named after a method proves nothing.
What is only absent proves nothing either: such a claim needs the listing of the version before.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from kbs_engine.opcodes import FunctionListing, Instruction, OpcodePattern, Scope

__all__ = [
    "Claim",
    "FunctionListing",
    "Instruction",
    "OpcodePattern",
    "PatternCount",
    "Probes",
    "Scope",
    "Signature",
    "SignatureVerdict",
    "verdict",
]

Role = Literal["all", "any", "none", "unclear"]
Outcome = Literal["confirmed", "refuted", "not_observable"]
_LOST = (
    "nothing of it is left, which does not show that it was there before;"
    " compare with the version before"
)


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one group of architectures shows; several claims for one architecture must all hold.

    `all_of`: each pattern at least `min` times; `any_of`: at least one pattern of the list;
    `none_of`: each pattern fewer than `min` times; `not_observable`: why opcodes cannot tell.
    `absence`: the claim is `none` alone, which is judged against the version before.
    `unclear`: patterns that the method leaves and other code too; met without `all` and `any`
    they make the verdict not observable, for the reason in `unclear_because`.
    """

    arch: tuple[str, ...]
    scope: Scope = "function"
    all_of: tuple[OpcodePattern, ...] = msgspec.field(default=(), name="all")
    any_of: tuple[OpcodePattern, ...] = msgspec.field(default=(), name="any")
    none_of: tuple[OpcodePattern, ...] = msgspec.field(default=(), name="none")
    absence: bool = False
    unclear: tuple[OpcodePattern, ...] = ()
    unclear_because: str | None = None
    not_observable: str | None = None

    def __post_init__(self) -> None:
        """Refuse a claim that says nothing, or both that opcodes tell and that they cannot."""
        where = ", ".join(self.arch)
        wanted = bool(self.all_of or self.any_of)
        if (wanted or bool(self.none_of)) == (self.not_observable is not None):
            msg = f"claim for {where}: give either opcode patterns or not_observable"
            raise ValueError(msg)
        if self.absence and (wanted or not self.none_of):
            msg = f"claim for {where}: absence speaks about `none` alone: move `all` and `any` away"
            raise ValueError(msg)
        if bool(self.unclear) != (self.unclear_because is not None) or (
            self.unclear and not wanted
        ):
            msg = f"claim for {where}: give unclear with unclear_because, beside `all` or `any`"
            raise ValueError(msg)


class Probes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sources that must be confirmed (positive) and refuted (negative) on every claimed target.

    `unclear` sources must be not observable: their opcodes are those of other code too.
    """

    positive: str | tuple[str, ...] = ()
    negative: str | tuple[str, ...] = ()
    unclear: str | tuple[str, ...] = ()


class Signature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The opcodes of one method, per architecture."""

    method: str
    claims: tuple[Claim, ...]
    probes: Probes | None = None

    def __post_init__(self) -> None:
        """Refuse a signature that any kernel without some opcode would fulfil."""
        for arch in dict.fromkeys(a for claim in self.claims for a in claim.arch):
            claims = self.for_arch(arch)
            if all(c.none_of and not (c.absence or c.all_of or c.any_of) for c in claims):
                msg = (
                    f"signature of {self.method} for {arch}: `none` alone holds for every kernel"
                    " without the opcode: write `absence: true`"
                )
                raise ValueError(msg)

    @property
    def needs_before(self) -> bool:
        """True when some claim is judged against the version before."""
        return any(claim.absence for claim in self.claims)

    def for_arch(self, arch: str) -> tuple[Claim, ...]:
        """Return the claims that name an architecture."""
        return tuple(claim for claim in self.claims if arch in claim.arch)


class PatternCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often a pattern was met, and what was asked."""

    role: Role
    scope: Scope
    opcode: str
    needed: int
    count: int

    @property
    def holds(self) -> bool:
        """True when the count is what the role asks for."""
        return (self.count < self.needed) if self.role == "none" else (self.count >= self.needed)


class SignatureVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one function, with the counts that it rests on."""

    method: str
    arch: str
    function: str
    outcome: Outcome
    reason: str
    counts: tuple[PatternCount, ...] = ()


def verdict(
    signature: Signature,
    arch: str,
    function: FunctionListing,
    before: FunctionListing | None = None,
) -> SignatureVerdict:
    """Judge one function: confirmed, refuted or not observable, with the evidence.

    `before` is the same function before the change; claims of absence are judged against it.
    """
    claims = signature.for_arch(arch)
    blind = _why_blind(signature, arch, claims, function)
    if blind is not None:
        return _verdict(signature, arch, function, "not_observable", blind, ())
    counts: list[PatternCount] = []
    judged: list[tuple[Outcome, str]] = []
    for claim in claims:
        found = _count(claim, function.within(claim.scope) or ())
        counts.extend(found)
        judged.append(_lost(claim, found, before) if claim.absence else _present(claim, found))
    outcomes = [outcome for outcome, _ in judged]
    order: tuple[Outcome, ...] = ("refuted", "not_observable", "confirmed")
    outcome = next(o for o in order if o in outcomes)
    reason = "; ".join(why for o, why in judged if o == outcome and why)
    return _verdict(signature, arch, function, outcome, reason, tuple(counts))


def _present(claim: Claim, found: Sequence[PatternCount]) -> tuple[Outcome, str]:
    missing = _unmet(claim, found)
    if not missing:
        return "confirmed", _met(found)
    blurred = [c for c in found if c.role == "unclear" and c.holds]
    if blurred and all(c.holds for c in found if c.role == "none"):
        return "not_observable", f"{_met(blurred)}: {claim.unclear_because}"
    return "refuted", "; ".join(missing)


def _lost(
    claim: Claim, found: Sequence[PatternCount], before: FunctionListing | None
) -> tuple[Outcome, str]:
    """Judge a claim of absence by what the version before held."""
    left = "; ".join(_phrase(c) for c in found if not c.holds)
    if before is None:
        return ("refuted", left) if left else ("not_observable", _LOST)
    earlier = before.within(claim.scope)
    if earlier is None:
        return "not_observable", f"{before.name}, the version before, has no loop"
    was = [c.count for c in _count(claim, earlier)]
    now = [c.count for c in found]
    change = "; ".join(
        f"{c.opcode}: {then} before, {c.count} now in the {_place(c.scope)}"
        for c, then in zip(found, was, strict=True)
        if then or c.count
    )
    if sum(now) < sum(was):
        return "confirmed", change
    if any(now):
        return "refuted", change
    return "not_observable", "the version before held none of it either"


def _verdict(
    signature: Signature,
    arch: str,
    function: FunctionListing,
    outcome: Outcome,
    reason: str,
    counts: tuple[PatternCount, ...],
) -> SignatureVerdict:
    return SignatureVerdict(
        method=signature.method,
        arch=arch,
        function=function.name,
        outcome=outcome,
        reason=reason,
        counts=counts,
    )


def _why_blind(
    signature: Signature, arch: str, claims: Sequence[Claim], function: FunctionListing
) -> str | None:
    if not claims:
        return f"the signature of {signature.method} makes no claim for {arch}"
    for claim in claims:
        if claim.not_observable is not None:
            return claim.not_observable
    if any(function.within(claim.scope) is None for claim in claims):
        return f"{function.name} has no loop, and the signature asks about its main loop"
    return None


def _count(claim: Claim, instructions: Sequence[Instruction]) -> list[PatternCount]:
    roles: tuple[tuple[Role, tuple[OpcodePattern, ...]], ...] = (
        ("all", claim.all_of),
        ("any", claim.any_of),
        ("none", claim.none_of),
        ("unclear", claim.unclear),
    )
    return [
        PatternCount(
            role=role,
            scope=claim.scope,
            opcode=pattern.opcode,
            needed=pattern.min,
            count=pattern.count(instructions),
        )
        for role, patterns in roles
        for pattern in patterns
    ]


def _unmet(claim: Claim, counts: Iterable[PatternCount]) -> list[str]:
    counts = list(counts)
    unmet = [_phrase(c) for c in counts if c.role in ("all", "none") and not c.holds]
    choices = [c for c in counts if c.role == "any"]
    if choices and not any(c.holds for c in choices):
        unmet.append(f"none of {', '.join(c.opcode for c in choices)} in the {_place(claim.scope)}")
    return unmet


def _phrase(count: PatternCount) -> str:
    bound = "fewer than" if count.role == "none" else "at least"
    return (
        f"{count.opcode}: {count.count} in the {_place(count.scope)}, {bound} {count.needed} asked"
    )


def _met(counts: Sequence[PatternCount]) -> str:
    blurred = all(c.role == "unclear" for c in counts)
    shown = ("unclear",) if blurred else ("all", "any", "none")
    return "; ".join(
        f"{c.opcode}: {c.count} in the {_place(c.scope)}"
        for c in counts
        if c.holds and c.role in shown
    )


def _place(scope: Scope) -> str:
    return {
        "function": "function",
        "main_loop": "main loop",
        "outside_loop": "code outside the main loop",
    }[scope]
