"""Who made the value that an instruction reads: straight-line definitions and uses.

Instructions are walked in address order, without branches.
A predicated write adds to what a register may hold; any other replaces it; a plain move hands on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbs_engine.opcodes import Instruction

Value = tuple[int, str]
"""The index of the instruction that made it (-1: made before) and the register that it lay in."""
Values = frozenset[Value]
Reads = tuple[tuple[Values, ...], ...]
"""For each instruction the values of each operand behind the destination."""

_NVIDIA = re.compile(r"\bU?R\d+\b")
_AMD = re.compile(r"\b([vsa])(?:(\d+)|\[(\d+):(\d+)\])")
_PREDICATE = re.compile(r"^!?U?P\d$")
_NEGATED = re.compile(r"^-\|?(U?R\d|[vs]\d|[vs]\[)")
_MATRIX = re.compile(r"^[HIDBQO]MMA$")
_ROUNDING = frozenset(
    {"F2F", "F2FP", "LOP3", "PRMT", "SHF", "SHL", "SEL", "IADD", "IADD3", "VIADD", "LEA"}
)
_CHANGED_BY = {"IMAD": ("U32", "IADD", "SHL"), "HADD2": ("F32",)}


def reads_of(instructions: Sequence[Instruction]) -> Reads:
    """Follow every register through the instructions given."""
    held: dict[str, Values] = {}
    found: list[tuple[Values, ...]] = []
    for n, instruction in enumerate(instructions):
        to = _destination(instruction)
        sources = instruction.operands[0 if to is None else to + 1 :]
        read = tuple(_values(held, operand) for operand in sources)
        found.append(read)
        if to is not None:
            _write(held, n, instruction, to, read)
    return tuple(found)


def makers(values: Values) -> frozenset[int]:
    """Return the instructions that made these values, without what came from before."""
    return frozenset(n for n, _ in values if n >= 0)


def exchange_rounds(
    instructions: Sequence[Instruction],
    reads: Reads,
    exchanges: Callable[[Instruction], bool],
    combines: Callable[[Instruction], bool],
) -> int:
    """Return how many rounds follow one another: a value is sent, and its copy combined with it.

    A negated or predicated combination is a butterfly that keeps all values, and does not count.
    """
    sent: dict[int, Values] = {}
    depth: dict[int, int] = {}
    for n, instruction in enumerate(instructions):
        everything = frozenset[Value]().union(*reads[n])
        before = max((depth.get(m, 0) for m in makers(everything)), default=0)
        if combines(instruction) and _is_plain(instruction):
            fused = exchanges(instruction) and _same_twice(reads[n])
            if fused or _meets_its_own(reads[n], sent):
                depth[n] = before + 1
        elif exchanges(instruction):
            sent[n] = everything
            depth[n] = before
    return max((d for n, d in depth.items() if n not in sent), default=0)


def fed_by_rests(instructions: Sequence[Instruction], reads: Reads) -> frozenset[int]:
    """Return the matrix instructions that take what a rounding left: `x - rounded(x)`."""
    rounded: dict[int, Values] = {}
    rests: set[int] = set()
    for n, instruction in enumerate(instructions):
        everything = frozenset[Value]().union(*reads[n])
        from_ = makers(everything)
        if _rounds(instruction):
            rounded[n] = everything.union(*(rounded.get(m, frozenset()) for m in from_))
            if from_ & rests:
                rests.add(n)
        elif instruction.mnemonic == "FADD" and _is_rest(instruction, reads[n], rounded):
            rests.add(n)
    return frozenset(
        n
        for n, instruction in enumerate(instructions)
        if _MATRIX.match(instruction.mnemonic)
        and rests & makers(frozenset[Value]().union(*reads[n][:2]))
    )


def _destination(instruction: Instruction) -> int | None:
    """Return which operand is written, or None: stores, branches and comparisons write none."""
    for at, operand in enumerate(instruction.operands[:2]):
        if re.fullmatch(r"U?R(\d+|Z)|[vsa](\d+|\[\d+:\d+\])", operand):
            return at if not instruction.mnemonic.startswith(("ds_write", "s_cmp")) else None
        if re.fullmatch(r"U?P(\d|T)", operand) is None:
            return None
    return None


def _registers(operand: str) -> list[str]:
    names = _NVIDIA.findall(operand)
    for kind, one, low, high in _AMD.findall(operand):
        span = range(int(one), int(one) + 1) if one else range(int(low), int(high) + 1)
        names.extend(f"{kind}{k}" for k in span)
    return names


def _values(held: dict[str, Values], operand: str) -> Values:
    empty: Values = frozenset()
    return empty.union(
        *(held.get(name, frozenset({(-1, name)})) for name in _registers(operand)),
    )


def _write(
    held: dict[str, Values],
    n: int,
    instruction: Instruction,
    to: int,
    read: tuple[Values, ...],
) -> None:
    moved = _is_move(instruction)
    for name in _written(instruction, instruction.operands[to]):
        new = frozenset[Value]().union(*read) if moved else frozenset({(n, name)})
        kept = held.get(name, frozenset({(-1, name)})) if instruction.predicate else frozenset()
        held[name] = new | kept


def _written(instruction: Instruction, operand: str) -> list[str]:
    names = _registers(operand)
    if not names or not names[0].startswith("R"):
        return names
    width = 1
    if "128" in instruction.modifiers or _MATRIX.match(instruction.mnemonic):
        width = 4
    elif {"64", "WIDE"} & set(instruction.modifiers) or instruction.mnemonic.startswith("D"):
        width = 2
    first = int(names[0][1:])
    return [f"R{first + k}" for k in range(width)]


def _is_move(instruction: Instruction) -> bool:
    if instruction.mnemonic == "IMAD":
        return "MOV" in instruction.modifiers
    plain = "dpp" not in instruction.modifiers
    return instruction.mnemonic in ("MOV", "v_mov_b32") and plain


def _is_plain(instruction: Instruction) -> bool:
    """True without a predicate, a predicate operand or a negated source."""
    signed = any(_PREDICATE.match(o) or _NEGATED.match(o) for o in instruction.operands[1:])
    return instruction.predicate is None and not signed


def _same_twice(read: tuple[Values, ...]) -> bool:
    return any(a and a == b for k, a in enumerate(read) for b in read[k + 1 :])


def _meets_its_own(read: tuple[Values, ...], sent: dict[int, Values]) -> bool:
    return any(
        sent[m] & other
        for k, own in enumerate(read)
        for m in makers(own)
        if m in sent
        for j, other in enumerate(read)
        if j != k
    )


def _rounds(instruction: Instruction) -> bool:
    wanted = _CHANGED_BY.get(instruction.mnemonic)
    if wanted is not None:
        return any(w in instruction.modifiers for w in wanted)
    return instruction.mnemonic in _ROUNDING


def _is_rest(
    instruction: Instruction, read: tuple[Values, ...], rounded: dict[int, Values]
) -> bool:
    sources = list(zip(instruction.operands[1:], read, strict=False))
    return any(
        rounded.get(m, frozenset()) & whole
        for negated, part in sources
        if _NEGATED.match(negated)
        for m in makers(part)
        for plain, whole in sources
        if not _NEGATED.match(plain)
    )
