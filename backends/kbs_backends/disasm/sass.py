"""NVIDIA SASS text, as nvdisasm or `cuobjdump -sass` prints it, into function listings."""

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from kbs_backends.disasm.cfg import Flow, Step, flow_of, main_loop
from kbs_engine.signatures import FunctionListing, Instruction

_FUNCTION = re.compile(r"^\s*Function\s*:\s*(\S+)|^\.text\.(\S+):\s*$")
_LABEL = re.compile(r"^(\.L[\w$.]*|\$[\w$.@]+|[A-Za-z_][\w$.]*):\s*$")
_LINE = re.compile(r"^\s*/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<text>[^;/]*?[^;]*?)\s*;")
_TEXT = re.compile(
    r"^(?:\{\s*)?(?:@(?P<predicate>!?U?P\w+)\s+)?(?P<opcode>[A-Z][\w.]*)\s*(?P<rest>.*)$"
)
_TARGET = re.compile(r"`\((?P<label>[^)]+)\)|(?P<address>0x[0-9a-f]+)$")

_JUMPS = ("BRA", "BRXU", "BRX", "JMP", "JMXU", "JMX", "BREAK", "WARPSYNC")
_ENDS = ("BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU", "EXIT", "RET", "KILL", "BPT")
_WAITS = ("NANOSLEEP*", "ATOM*.CAS*", "ATOM*.CAST*", "BRA.U.ANY")
"""What makes a short loop a spin loop in any case: locks, sleeps, serialisation over lanes."""
_POLLS = ("SYNCS.PHASECHK*", "USETMAXREG.TRY_ALLOC*", "VOTEU.ANY*", "VOTE.ANY*")
"""What makes it one only when it does no work besides: polls of a barrier, votes."""
_WORKS = (
    "LD*",
    "ST*",
    "RED*",
    "ATOM*",
    "U*LDG*",
    "*MMA*",
    "F[ACFMS]*",
    "MUFU*",
    "D[AMFS]*",
    "H*2*",
)


def parse_sass(text: str) -> tuple[FunctionListing, ...]:
    """Parse every function of a listing, in file order.

    Labels inside a function (slow paths that the compiler adds) belong to that function.
    """
    return tuple(_listing(name, lines) for name, lines in _functions(text) if lines)


def _functions(text: str) -> Iterator[tuple[str, list[str]]]:
    name: str | None = None
    lines: list[str] = []
    for line in text.splitlines():
        head = _FUNCTION.match(line)
        starts_section = line.lstrip().startswith((".section", "//-----"))
        if head is not None or starts_section:
            if name is not None:
                yield name, lines
            name = (head.group(1) or head.group(2)) if head is not None else None
            lines = []
        elif name is not None:
            lines.append(line)
    if name is not None:
        yield name, lines


def sass_flows(text: str) -> dict[str, Flow]:
    """Blocks and loops of every function of a listing, by name."""
    return {name: flow_of(_decoded(lines)[1]) for name, lines in _functions(text) if lines}


def _listing(name: str, lines: Sequence[str]) -> FunctionListing:
    instructions, steps = _decoded(lines)
    loop = main_loop(steps)
    return FunctionListing(
        name=name, instructions=tuple(instructions), main_loop=None if loop is None else loop.body
    )


def _decoded(lines: Sequence[str]) -> tuple[list[Instruction], list[Step]]:
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    for line in lines:
        label = _LABEL.match(line)
        if label is not None:
            labels[label.group(1)] = len(instructions)
            continue
        found = _LINE.match(line)
        decoded = _decode(found) if found is not None else None
        if decoded is not None:
            instructions.append(decoded)
    addresses = {i.address: n for n, i in enumerate(instructions)}
    return instructions, [_step(i, labels, addresses) for i in instructions]


def _decode(found: re.Match[str]) -> Instruction | None:
    parts = _TEXT.match(found["text"].strip())
    if parts is None:
        return None
    mnemonic, *modifiers = parts["opcode"].split(".")
    return Instruction(
        address=int(found["address"], 16),
        mnemonic=mnemonic,
        modifiers=tuple(modifiers),
        operands=split_operands(parts["rest"]),
        predicate=parts["predicate"],
    )


def split_operands(text: str) -> tuple[str, ...]:
    """Split at commas outside brackets: `desc[UR4][R2.64], R0` has two operands."""
    parts: list[str] = []
    depth, start = 0, 0
    for index, char in enumerate(text):
        if char in "[({":
            depth += 1
        elif char in "])}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    parts.append(text[start:].strip().rstrip("}").strip())
    return tuple(p for p in parts if p)


def _step(
    instruction: Instruction, labels: Mapping[str, int], addresses: Mapping[int, int]
) -> Step:
    targets: tuple[int, ...] = ()
    if instruction.mnemonic in _JUMPS and instruction.operands:
        target = _target(instruction.operands[-1], labels, addresses)
        targets = () if target is None else (target,)
    conditional = _conditional(instruction)
    return Step(
        targets=targets,
        falls_through=conditional or instruction.mnemonic not in _ENDS,
        waits=_is(instruction, _WAITS),
        polls=_is(instruction, _POLLS),
        works=_is(instruction, _WORKS),
    )


def _is(instruction: Instruction, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(instruction.opcode, pattern) for pattern in patterns)


def _conditional(instruction: Instruction) -> bool:
    """True for `@P0 BRA`, `BRA.DIV UR4, …` and `BRA.U UP0, …`: control may go on behind them."""
    if instruction.predicate is not None and instruction.predicate not in {"PT", "UPT"}:
        return True
    extra = instruction.mnemonic == "BRA" and len(instruction.operands) > 1
    return extra and instruction.operands[0] not in {"PT", "UPT"}


def _target(operand: str, labels: Mapping[str, int], addresses: Mapping[int, int]) -> int | None:
    found = _TARGET.search(operand)
    if found is None:
        return None
    if found["label"] is not None:
        return labels.get(found["label"])
    return addresses.get(int(found["address"], 16))
