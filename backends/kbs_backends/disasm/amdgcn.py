"""AMD GCN/CDNA/RDNA assembly text, as LLVM or Triton prints it, into function listings."""

import re
from collections.abc import Iterator, Mapping, Sequence

from kbs_backends.disasm.cfg import Flow, Step, flow_of, main_loop
from kbs_backends.disasm.sass import split_operands
from kbs_engine.signatures import FunctionListing, Instruction

_LABEL = re.compile(r"^([A-Za-z_.$][\w.$@]*):")
_CODE = re.compile(r"^\s+(?P<opcode>[a-z][a-z0-9_]*)(?:\s+(?P<rest>.*))?$")
_TYPE = re.compile(r"^\s*\.type\s+([\w.$]+),\s*@function")
_ENCODING = re.compile(r"_(e32|e64|sdwa|dpp|e64_dpp|dpp8)$")
_PREFIXES = (
    "s_",
    "v_",
    "ds_",
    "global_",
    "buffer_",
    "flat_",
    "scratch_",
    "tbuffer_",
    "image_",
    "exp",
    "lds_",
)
_ENDS = ("s_branch", "s_endpgm", "s_setpc_b64", "s_trap")
_WAITS = ("s_sleep",)


def parse_amdgcn(text: str) -> tuple[FunctionListing, ...]:
    """Parse every `.type name,@function` of an assembly listing, in file order.

    Trailing keywords (`offen`, `lds`, `nt`, `sc0`, `row_shr:1`) become modifiers,
    so that `buffer_load_dword.lds` is a pattern; `_e32` and `_dpp` endings become modifiers too.
    """
    return tuple(_listing(name, lines) for name, lines in _functions(text) if lines)


def _functions(text: str) -> Iterator[tuple[str, list[str]]]:
    declared: set[str] = set()
    name: str | None = None
    lines: list[str] = []
    for raw in text.splitlines():
        line = raw.split(";", 1)[0].split("//", 1)[0].rstrip()
        declares = _TYPE.match(line)
        if declares is not None:
            declared.add(declares.group(1))
        label = _LABEL.match(line)
        if label is not None and label.group(1) in declared:
            name, lines = label.group(1), []
        elif name is not None and (label is not None and label.group(1).startswith(".Lfunc_end")):
            yield name, lines
            name = None
        elif name is not None and line:
            lines.append(line)
    if name is not None:
        yield name, lines


def amdgcn_flows(text: str) -> dict[str, Flow]:
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
        for part in line.split("::"):
            decoded = _decode(f" {part}", len(instructions))
            if decoded is not None:
                instructions.append(decoded)
    return instructions, [_step(i, labels) for i in instructions]


def _decode(line: str, index: int) -> Instruction | None:
    found = _CODE.match(line)
    if found is None or not found["opcode"].startswith(_PREFIXES):
        return None
    opcode, encoding = found["opcode"], ()
    ending = _ENCODING.search(opcode)
    if ending is not None:
        opcode, encoding = opcode[: ending.start()], tuple(ending.group(1).split("_"))
    operands, keywords = _operands(opcode, found["rest"] or "")
    return Instruction(
        address=index, mnemonic=opcode, modifiers=(*encoding, *keywords), operands=operands
    )


def _operands(opcode: str, rest: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Part operands from trailing keywords; a wait's counters are its operands."""
    if opcode.startswith("s_wait"):
        return tuple(rest.replace(",", " ").split()), ()
    parts = split_operands(rest)
    if not parts:
        return (), ()
    last, *keywords = parts[-1].split()
    return (*parts[:-1], last), tuple(keywords)


def _step(instruction: Instruction, labels: Mapping[str, int]) -> Step:
    jumps = instruction.mnemonic == "s_branch" or instruction.mnemonic.startswith("s_cbranch")
    target = labels.get(instruction.operands[-1]) if jumps and instruction.operands else None
    return Step(
        targets=() if target is None else (target,),
        falls_through=instruction.mnemonic not in _ENDS,
        waits=instruction.mnemonic in _WAITS,
    )
