"""The machine code of one source, judged: functions, resources, occupancy, signatures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from kbs_backends.disasm import amdgcn_flows, opcode_histogram, sass_flows
from kbs_backends.disasm.cfg import Flow
from kbs_backends.languages import Built, Call, CompileCache, detect_language, language
from kbs_backends.languages.base import Listings
from kbs_backends.languages.isolated import compile_apart
from kbs_backends.languages.machine_code import demangled, listings_of, not_compiled
from kbs_backends.languages.sources import read_source
from kbs_engine.errors import InputError, UsageError
from kbs_engine.facts import Chip
from kbs_engine.occupancy import Launch, Occupancy, occupancy
from kbs_engine.opcodes import FunctionListing
from kbs_engine.results import CompileMessage, KernelResources
from kbs_engine.signatures import Signature, SignatureVerdict, verdict

Outcome = Literal["confirmed", "refuted", "not_observable"]


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of one source."""

    source: Path
    arch: str
    language: str = "auto"
    call: Call = Call()
    flags: tuple[str, ...] = ()
    before: Path | None = None


class FunctionReport(msgspec.Struct, frozen=True, kw_only=True):
    """One function: its shape, its opcodes, what it takes."""

    name: str
    written: str
    """The name as C++ writes it; the same where it is not mangled."""
    instructions: int
    blocks: int
    loops: tuple[int, ...]
    """Instructions of each natural loop, in address order of the headers."""
    main_loop: int | None
    """Instructions of the main loop; None without a loop."""
    opcodes: dict[str, int]
    main_loop_opcodes: dict[str, int]
    resources: KernelResources | None = None
    occupancy: Occupancy | None = None


class MethodReport(msgspec.Struct, frozen=True, kw_only=True):
    """One method over all functions: one confirmed function confirms it."""

    method: str
    outcome: Outcome
    verdicts: tuple[SignatureVerdict, ...]


class Assembly(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one source on one target."""

    source: str
    language: str
    arch: str
    signature_arch: str
    """The target that the wiki's signatures speak of (``sm_90`` is ``sm_90a`` there)."""
    compiler: str
    tool: str
    cached: bool
    functions: tuple[FunctionReport, ...]
    methods: tuple[MethodReport, ...] = ()
    messages: tuple[CompileMessage, ...] = ()
    notes: tuple[str, ...] = ()


def assemble(
    question: Question,
    cache: CompileCache,
    signatures: Mapping[str, Signature],
    chip: Chip | None,
) -> Assembly:
    """Compile, disassemble and judge by ``signatures``.

    Raises:
        MeasurementError: It does not compile, or a tool is missing.
    """
    name = _language(question)
    built = _built(name, question, question.source, cache)
    listing = _listings(built, question.source)
    known = {arch for s in signatures.values() for claim in s.claims for arch in claim.arch}
    arch = signature_arch(question.arch, known)
    before = _before(name, question, cache)
    functions = listing.disassembled.functions
    flows = (amdgcn_flows if arch.startswith("gfx") else sass_flows)(listing.text)
    words = demangled(function.name for function in functions)
    resources = {row.kernel: row for row in built.compiled.resources}
    return Assembly(
        source=str(question.source),
        language=name,
        arch=question.arch,
        signature_arch=arch,
        compiler=built.compiled.compiler,
        tool=listing.disassembled.tool,
        cached=built.compiled.cached,
        functions=tuple(
            _function(f, words.get(f.name, f.name), flows[f.name], resources.get(f.name), chip)
            for f in functions
        ),
        methods=tuple(
            _method(signature, arch, functions, before) for signature in signatures.values()
        ),
        messages=built.compiled.messages,
        notes=_notes(chip, name),
    )


def disassembly(question: Question, cache: CompileCache) -> str:
    """The text of the disassembler, or of AMD's assembler."""
    built = _built(_language(question), question, question.source, cache)
    return _listings(built, question.source).text


def signature_arch(arch: str, known: set[str]) -> str:
    """``arch`` as signatures name it: an ``sm_90`` is judged as ``sm_90a`` where only that is.

    Triton and nvcc spell one chip both ways; the machine code of a kernel that compiles for the
    plain target is the same.
    """
    return arch if arch in known or f"{arch}a" not in known else f"{arch}a"


def _language(question: Question) -> str:
    if question.language != "auto":
        return language(question.language).name
    return detect_language(question.source, read_source(question.source))


def _built(name: str, question: Question, source: Path, cache: CompileCache) -> Built:
    built = compile_apart(
        name, source, question.arch, cache=cache, flags=question.flags, call=question.call
    )
    if not built.compiled.ok:
        raise not_compiled(built, str(source))
    return built


def _listings(built: Built, source: Path) -> Listings:
    """The machine code; InputError where the file holds no kernel at all."""
    listings = listings_of(built, str(source))
    if not listings.disassembled.functions:
        raise InputError(
            "holds no kernel: nothing in it was compiled for the GPU",
            where=str(source),
            remedy="name a file with a __global__ function; a template is compiled only for "
            "what launches it",
        )
    return listings


def _before(name: str, question: Question, cache: CompileCache) -> Mapping[str, FunctionListing]:
    """Functions of the version before, by name; empty where none is given."""
    if question.before is None:
        return {}
    if question.before.suffix != question.source.suffix:
        raise UsageError(
            f"{question.before.name} is not in the language of {question.source.name}",
            remedy="give the version before of the same kernel",
        )
    built = _built(name, question, question.before, cache)
    listed = _listings(built, question.before).disassembled.functions
    return {function.name: function for function in listed}


def _function(
    function: FunctionListing,
    written: str,
    flow: Flow,
    resources: KernelResources | None,
    chip: Chip | None,
) -> FunctionReport:
    return FunctionReport(
        name=function.name,
        written=written,
        instructions=len(function.instructions),
        blocks=flow.blocks,
        loops=tuple(len(loop.body) for loop in flow.loops),
        main_loop=None if function.main_loop is None else len(function.main_loop),
        opcodes=opcode_histogram(function),
        main_loop_opcodes=opcode_histogram(function, "main_loop"),
        resources=resources,
        occupancy=_occupancy(resources, chip),
    )


def _occupancy(resources: KernelResources | None, chip: Chip | None) -> Occupancy | None:
    """Static occupancy, where threads, registers and a chip's limits are known."""
    if chip is None or resources is None:
        return None
    if resources.threads_per_block is None or not resources.registers:
        return None
    launch = Launch(
        block=resources.threads_per_block,
        registers=resources.registers,
        shared_bytes=float(resources.shared_bytes or 0),
    )
    return occupancy(chip, launch)


def _method(
    signature: Signature,
    arch: str,
    functions: Sequence[FunctionListing],
    before: Mapping[str, FunctionListing],
) -> MethodReport:
    only = next(iter(before.values())) if len(before) == 1 and len(functions) == 1 else None
    verdicts = tuple(
        verdict(signature, arch, function, before.get(function.name, only))
        for function in functions
    )
    outcomes = {found.outcome for found in verdicts}
    order: tuple[Outcome, ...] = ("confirmed", "refuted", "not_observable")
    outcome: Outcome = next((o for o in order if o in outcomes), "not_observable")
    return MethodReport(method=signature.method, outcome=outcome, verdicts=verdicts)


def _notes(chip: Chip | None, name: str) -> tuple[str, ...]:
    notes = []
    if ".cu" in language(name).suffixes:
        notes.append(
            "occupancy is for the launch bounds and static shared memory; what a launch asks for "
            "besides is not in the binary"
        )
    if chip is None:
        notes.append("the wiki has no chip of this target, so occupancy is UNKNOWN")
    if name == "flydsl":
        notes.append("not run: FlyDSL needs AMD hardware")
    return tuple(notes)
