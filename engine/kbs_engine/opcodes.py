"""Decoded instructions, the functions that they make up, and patterns over their opcodes."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from kbs_engine import dataflow

Scope = Literal["function", "main_loop", "outside_loop"]

_REGISTER = re.compile(r"^(U?R\d+|[vsa]\d+|[vsa]\[)")
_OPERAND_RULES = ("any", "not_rz", "nonzero", "packed", "rest")
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
    `has GLOB` some operand fits the glob, such as `has 1.44269*`;
    `rest` a factor of a matrix instruction is what a rounding left, `x - rounded(x)`.
    `after`: a source was made by an instruction that fits this pattern.
    `combines`: a source is the copy, made by an instruction with this opcode, of another source;
    `min` then counts rounds that follow one another.
    """

    opcode: str
    min: int = 1
    operands: str = "any"
    after: "OpcodePattern | None" = None
    combines: str | None = None

    def __post_init__(self) -> None:
        """Refuse a pattern that could match nothing or everything."""
        if not self.opcode.split(".")[0].strip("*"):
            msg = f"opcode pattern {self.opcode!r} names no mnemonic: write one, such as 'LDG.128'"
            raise ValueError(msg)
        if self.min < 1:
            msg = f"opcode pattern {self.opcode!r} has min {self.min}: a count starts at 1"
            raise ValueError(msg)
        if self.combines is not None and not self.combines.split(".")[0].strip("*"):
            msg = f"opcode pattern {self.opcode!r}: combines {self.combines!r} names no mnemonic"
            raise ValueError(msg)
        if self.operands not in _OPERAND_RULES and not self.operands.startswith("has "):
            known = ", ".join((*_OPERAND_RULES, "has GLOB"))
            msg = f"opcode pattern {self.opcode!r}: operands {self.operands!r} is none of {known}"
            raise ValueError(msg)

    def matches(self, instruction: Instruction) -> bool:
        """Say whether one instruction alone fits: mnemonic, every modifier and the operands."""
        mnemonic, *modifiers = self.opcode.split(".")
        if not fnmatchcase(instruction.mnemonic, mnemonic):
            return False
        if not _modifiers_fit(modifiers, instruction.modifiers):
            return False
        return _operands_fit(self.operands, instruction.operands)

    def count(self, instructions: Sequence[Instruction]) -> int:
        """Count the instructions that fit, or the rounds where the pattern combines."""
        if self.combines is not None:
            pattern = OpcodePattern(opcode=self.combines)
            reads = dataflow.reads_of(instructions)
            return dataflow.exchange_rounds(instructions, reads, pattern.matches, self.matches)
        fitting = [n for n, i in enumerate(instructions) if self.matches(i)]
        if fitting and self.operands == "rest":
            reads = dataflow.reads_of(instructions)
            fed = dataflow.fed_by_rests(instructions, reads)
            fitting = [n for n in fitting if n in fed]
        if fitting and self.after is not None:
            fitting = self._behind(self.after, fitting, instructions)
        return len(fitting)

    @staticmethod
    def _behind(
        after: "OpcodePattern", fitting: Sequence[int], instructions: Sequence[Instruction]
    ) -> list[int]:
        reads = dataflow.reads_of(instructions)
        return [
            n
            for n in fitting
            if any(after.matches(instructions[m]) for r in reads[n] for m in dataflow.makers(r))
        ]


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
    return rule in ("any", "rest") or any(
        fnmatchcase(o, rule.removeprefix("has ")) for o in operands
    )


def _is_register(operand: str) -> bool:
    """True for R3, -R4.reuse, |R5|, UR6, v7, v[0:1], s8, a[0:3]; false for RZ, PT, numbers."""
    name = operand.strip("-!|~ ").split(".")[0].strip("|")
    return name not in _NO_VALUE and _REGISTER.match(name) is not None


def _is_nonzero(operand: str) -> bool:
    try:
        return int(operand, 0) != 0
    except ValueError:
        return False
