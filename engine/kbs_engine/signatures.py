"""Which opcodes prove that an optimization is in the binary, and the verdict on one function.

A signature says, per architecture, what must stand in the disassembly of a kernel.
Parsed opcodes are matched, never text: a function named after a method proves nothing.
"""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

Outcome = Literal["confirmed", "refuted", "not_observable"]
Scope = Literal["function", "main_loop", "outside_loop"]

_REGISTER = re.compile(r"^(U?R\d+|[vsa]\d+|[vsa]\[)")
_OPERAND_RULES = ("any", "not_rz", "nonzero", "packed")
_NO_VALUE = frozenset({"RZ", "URZ", "PT", "UPT", ""})


class Instruction(msgspec.Struct, frozen=True, kw_only=True):
    """One decoded instruction.

    `address` is the byte offset in the function (AMD text has none: the index is used).
    `operands` keep the spelling of the disassembler, destination first.
    """

    address: int
    mnemonic: str
    modifiers: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    predicate: str | None = None

    @property
    def opcode(self) -> str:
        """Mnemonic and modifiers joined by dots, as NVIDIA prints it."""
        return ".".join((self.mnemonic, *self.modifiers))


class FunctionListing(msgspec.Struct, frozen=True, kw_only=True):
    """One function of a binary: instructions in address order.

    `main_loop` holds indices into `instructions` of the innermost loop with most instructions,
    and is None when the function has no loop.
    """

    name: str
    instructions: tuple[Instruction, ...]
    main_loop: tuple[int, ...] | None = None

    def within(self, scope: Scope) -> tuple[Instruction, ...] | None:
        """Return the instructions of a scope, or None when there is no loop to ask about."""
        if scope == "function":
            return self.instructions
        if self.main_loop is None:
            return None
        inside = frozenset(self.main_loop)
        wanted = scope == "main_loop"
        return tuple(i for n, i in enumerate(self.instructions) if (n in inside) == wanted)


class OpcodePattern(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`LDG.128` asks for a modifier, `LDG.!CONSTANT` forbids one, `UTC*MMA` names a family.

    Wanted modifiers must stand in this order (`UBLKCP.S.G` is a load, `UBLKCP.G.S` a store).
    `operands` narrows by what follows the opcode:
    `not_rz` a source is a real register (constant moves have none);
    `packed` a source register is used whole, without a `.H0_H0` or `.H1_H1` half selector;
    `nonzero` the last operand is an immediate other than zero;
    `has GLOB` some operand fits the glob, such as `has 1.44269*`.
    """

    opcode: str
    min: int = 1
    operands: str = "any"

    def __post_init__(self) -> None:
        """Refuse a pattern that could match nothing or everything."""
        if not self.opcode.split(".")[0].strip("*"):
            msg = f"opcode pattern {self.opcode!r} names no mnemonic: write one, such as 'LDG.128'"
            raise ValueError(msg)
        if self.min < 1:
            msg = f"opcode pattern {self.opcode!r} has min {self.min}: a count starts at 1"
            raise ValueError(msg)
        if self.operands not in _OPERAND_RULES and not self.operands.startswith("has "):
            known = ", ".join((*_OPERAND_RULES, "has GLOB"))
            msg = f"opcode pattern {self.opcode!r}: operands {self.operands!r} is none of {known}"
            raise ValueError(msg)

    def matches(self, instruction: Instruction) -> bool:
        """Say whether one instruction fits the mnemonic, every modifier and the operands."""
        mnemonic, *modifiers = self.opcode.split(".")
        if not fnmatchcase(instruction.mnemonic, mnemonic):
            return False
        if not _modifiers_fit(modifiers, instruction.modifiers):
            return False
        return _operands_fit(self.operands, instruction.operands)


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one group of architectures shows; several claims for one architecture must all hold.

    `all_of`: each pattern at least `min` times; `any_of`: at least one pattern of the list;
    `none_of`: each pattern fewer than `min` times; `not_observable`: why opcodes cannot tell.
    """

    arch: tuple[str, ...]
    scope: Scope = "function"
    all_of: tuple[OpcodePattern, ...] = msgspec.field(default=(), name="all")
    any_of: tuple[OpcodePattern, ...] = msgspec.field(default=(), name="any")
    none_of: tuple[OpcodePattern, ...] = msgspec.field(default=(), name="none")
    not_observable: str | None = None

    def __post_init__(self) -> None:
        """Refuse a claim that says nothing, or both that opcodes tell and that they cannot."""
        patterns = bool(self.all_of or self.any_of or self.none_of)
        if patterns == (self.not_observable is not None):
            where = ", ".join(self.arch)
            msg = f"claim for {where}: give either opcode patterns or not_observable"
            raise ValueError(msg)


class Probes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sources that must be confirmed (positive) and refuted (negative) on every claimed target."""

    positive: str | tuple[str, ...] = ()
    negative: str | tuple[str, ...] = ()


class Signature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The opcodes of one method, per architecture."""

    method: str
    claims: tuple[Claim, ...]
    probes: Probes | None = None

    def for_arch(self, arch: str) -> tuple[Claim, ...]:
        """Return the claims that name an architecture."""
        return tuple(claim for claim in self.claims if arch in claim.arch)


class PatternCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often a pattern was met, and what was asked."""

    role: Literal["all", "any", "none"]
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


def verdict(signature: Signature, arch: str, function: FunctionListing) -> SignatureVerdict:
    """Judge one function: confirmed, refuted or not observable, with the evidence."""
    claims = signature.for_arch(arch)
    blind = _why_blind(signature, arch, claims, function)
    if blind is not None:
        return _verdict(signature, arch, function, "not_observable", blind, ())
    counts: list[PatternCount] = []
    missing: list[str] = []
    for claim in claims:
        found = _count(claim, function.within(claim.scope) or ())
        counts.extend(found)
        missing.extend(_unmet(claim, found))
    outcome: Outcome = "refuted" if missing else "confirmed"
    reason = "; ".join(missing) if missing else _met(counts)
    return _verdict(signature, arch, function, outcome, reason, tuple(counts))


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
    roles: tuple[tuple[Literal["all", "any", "none"], tuple[OpcodePattern, ...]], ...] = (
        ("all", claim.all_of),
        ("any", claim.any_of),
        ("none", claim.none_of),
    )
    return [
        PatternCount(
            role=role,
            scope=claim.scope,
            opcode=pattern.opcode,
            needed=pattern.min,
            count=sum(pattern.matches(i) for i in instructions),
        )
        for role, patterns in roles
        for pattern in patterns
    ]


def _unmet(claim: Claim, counts: Iterable[PatternCount]) -> list[str]:
    counts = list(counts)
    unmet = [_phrase(c) for c in counts if c.role != "any" and not c.holds]
    choices = [c for c in counts if c.role == "any"]
    if choices and not any(c.holds for c in choices):
        unmet.append(f"none of {', '.join(c.opcode for c in choices)} in the {_place(claim.scope)}")
    return unmet


def _phrase(count: PatternCount) -> str:
    bound = "fewer than" if count.role == "none" else "at least"
    return (
        f"{count.opcode}: {count.count} in the {_place(count.scope)}, {bound} {count.needed} asked"
    )


def _met(counts: Iterable[PatternCount]) -> str:
    return "; ".join(f"{c.opcode}: {c.count} in the {_place(c.scope)}" for c in counts if c.holds)


def _place(scope: Scope) -> str:
    return {
        "function": "function",
        "main_loop": "main loop",
        "outside_loop": "code outside the main loop",
    }[scope]


def _modifiers_fit(wanted: Sequence[str], present: Sequence[str]) -> bool:
    forbidden = [w[1:] for w in wanted if w.startswith("!")]
    if any(fnmatchcase(p, f) for p in present for f in forbidden):
        return False
    rest = iter(present)
    return all(any(fnmatchcase(p, w) for p in rest) for w in wanted if not w.startswith("!"))


def _operands_fit(rule: str, operands: Sequence[str]) -> bool:
    if rule == "not_rz":
        return any(_is_register(o) for o in operands[1:])
    if rule == "packed":
        return any(
            _is_register(o) and not o.rstrip("|").endswith(("H0_H0", "H1_H1")) for o in operands[1:]
        )
    if rule == "nonzero":
        return bool(operands) and _is_nonzero(operands[-1])
    return rule == "any" or any(fnmatchcase(o, rule.removeprefix("has ")) for o in operands)


def _is_register(operand: str) -> bool:
    """True for R3, -R4.reuse, |R5|, UR6, v7, v[0:1], s8, a[0:3]; false for RZ, PT, numbers."""
    name = operand.strip("-!|~ ").split(".")[0].strip("|")
    return name not in _NO_VALUE and _REGISTER.match(name) is not None


def _is_nonzero(operand: str) -> bool:
    try:
        return int(operand, 0) != 0
    except ValueError:
        return False
