"""Machine code of compiled files: cubins through nvdisasm, AMD assembly as it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from kbs_backends.disasm import parse_amdgcn, parse_sass
from kbs_backends.disasm.tools import DisassemblerFailure, disassemble_cubin, find_nvdisasm
from kbs_backends.languages.base import Built, Listings
from kbs_backends.run_tool import run_tool
from kbs_engine.errors import MeasurementError
from kbs_engine.opcodes import FunctionListing
from kbs_engine.results import CompileMessage, Disassembled

CUBIN, AMDGCN = "cubin", "amdgcn"
"""Kinds of files in ``Built.files``; several of one kind carry numbers (``cubin0``)."""


def listings_of(built: Built, where: str) -> Listings:
    """Every function of every binary of ``built``.

    Raises:
        MeasurementError: It did not compile, left no machine code, or nvdisasm is not here.
    """
    if not built.compiled.ok:
        raise not_compiled(built, where)
    cubins = _files(built, CUBIN)
    assemblies = _files(built, AMDGCN)
    if cubins:
        tool, text, functions = _sass(cubins)
    elif assemblies:
        text = "".join(path.read_text(encoding="utf-8") for path in assemblies)
        tool = f"{built.compiled.compiler} (amdgcn)"
        functions = tuple(f for path in assemblies for f in parse_amdgcn(path.read_text("utf-8")))
    else:
        raise MeasurementError(
            "the compiler left no machine code", where=where,
            remedy="give the kernel a launch: what is never called is not compiled",
        )  # fmt: skip
    return Listings(
        disassembled=Disassembled(
            arch=built.compiled.arch,
            tool=tool,
            functions=_distinct(functions),
            text_sha256=hashlib.sha256(text.encode()).hexdigest(),
        ),
        text=text,
    )


def demangled(names: Iterable[str]) -> dict[str, str]:
    """C++ names as they are written, by mangled name; without c++filt nothing is changed."""
    mangled = [name for name in dict.fromkeys(names) if name.startswith("_Z")]
    run = run_tool(("c++filt", *mangled)) if mangled else None
    lines = run.stdout.splitlines() if run is not None and run.ok else []
    return dict(zip(mangled, lines, strict=True)) if len(lines) == len(mangled) else {}


def not_compiled(built: Built, where: str) -> MeasurementError:
    """The first error of a compilation as an error with the line of the user's file."""
    first = next(m for m in built.compiled.messages if m.severity == "error")
    place = f"{where}:{first.line}" if first.line else where
    return MeasurementError(
        f"does not compile for {built.compiled.arch}: {first.message}",
        where=place,
        remedy=_remedy(first),
    )


def _remedy(first: CompileMessage) -> str:
    if first.line:
        return "fix the source"
    if "unsupported gpu architecture" in first.message.lower():
        return "give a target that this compiler has, such as --arch sm_90a"
    return "fix what the compiler names: an option, a header, or the target"


def _files(built: Built, kind: str) -> list[Path]:
    return [path for name, path in sorted(built.files.items()) if name.startswith(kind)]


def _sass(cubins: Iterable[Path]) -> tuple[str, str, tuple[FunctionListing, ...]]:
    nvdisasm = find_nvdisasm()
    if nvdisasm is None:
        raise MeasurementError(
            "nvdisasm is not here, so machine code cannot be shown",
            remedy="install the CUDA toolkit, or pip install nvidia-cuda-nvdisasm or triton",
        )
    texts = []
    for cubin in cubins:
        text = disassemble_cubin(nvdisasm, cubin)
        if isinstance(text, DisassemblerFailure):
            raise MeasurementError(
                f"nvdisasm failed: {text.stderr.strip() or text.returncode}", where=str(cubin),
                remedy="use an nvdisasm at least as new as the compiler",
            )  # fmt: skip
        texts.append(text)
    functions = tuple(function for text in texts for function in parse_sass(text))
    return str(nvdisasm.name), "".join(texts), functions


def _distinct(functions: Iterable[FunctionListing]) -> tuple[FunctionListing, ...]:
    """Functions of one name and one code once: a kernel may be launched many times."""
    return tuple(dict.fromkeys(functions))
