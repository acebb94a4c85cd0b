"""Machine code of DSLs that compile inside ``run_kernel``: the files that they dump."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path

import msgspec

from kbs_backends.languages.base import Built, Call
from kbs_backends.languages.cache import CacheKey, CompileCache
from kbs_backends.languages.python_kernel import RUN, SETUP
from kbs_backends.languages.sources import read_source
from kbs_backends.languages.user_code import missing_function
from kbs_backends.run_tool import run_tool
from kbs_engine.errors import MeasurementError, UsageError
from kbs_engine.results import Compiled, CompileMessage, KernelResources

TIMEOUT_S = 180.0


class Dump(msgspec.Struct, frozen=True, kw_only=True):
    """How a DSL is told what to compile for and what to leave behind."""

    package: str
    """Distribution that has it."""
    kind: str
    """Kind of the files in ``Built.files``."""
    patterns: tuple[str, ...]
    """Globs below the dump folder."""
    environment: Callable[[str, Path], Mapping[str, str]]
    """Variables by target and dump folder."""
    resources: Callable[[Sequence[Path]], tuple[KernelResources, ...]]


def package_version(package: str, words: str) -> str:
    """Name and version; MeasurementError when it is not installed."""
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError as problem:
        raise MeasurementError(
            f"the package {package} is not installed, so {words} kernels cannot be compiled",
            remedy=f"pip install {package}",
        ) from problem


def compile_by_dump(
    dump: Dump, version: str, source: Path, arch: str, cache: CompileCache,
    flags: Sequence[str], call: Call | None,
) -> Built:  # fmt: skip
    """One call in a process of its own, and what it left. Runs the user's file."""
    if flags:
        raise UsageError(
            f"{dump.package} takes no compiler flags ({' '.join(flags)})",
            remedy="set options in the source",
        )
    text = read_source(source)
    for name in (SETUP, RUN):
        missing_function(text, name, source)
    call = call or Call()
    reference = read_source(call.reference) if call.reference else ""
    key = CacheKey(
        source_sha256=hashlib.sha256(text.encode()).hexdigest(),
        arch=arch,
        compiler=version,
        call={
            **msgspec.to_builtins(msgspec.structs.replace(call, reference=None)),
            "reference": hashlib.sha256(reference.encode()).hexdigest(),
        },
    )

    def build(work: Path) -> tuple[Compiled, Mapping[str, Path]]:
        return _build(dump, source, text, key, call, work)

    compiled, files = cache.build(key, build)
    return Built(compiled=compiled, files=files)


def _build(
    dump: Dump, source: Path, text: str, key: CacheKey, call: Call, work: Path
) -> tuple[Compiled, Mapping[str, Path]]:
    written = work / "call.json"
    reference = call.reference.resolve() if call.reference else None
    written.write_bytes(
        msgspec.json.encode(msgspec.structs.replace(call, reference=reference), enc_hook=str)
    )
    dumped = work / "dump"
    dumped.mkdir()
    run = run_tool(
        (sys.executable, "-m", "kbs_backends.languages.call_once", str(source.resolve()),
         str(written)),
        timeout_s=TIMEOUT_S,
        cwd=dumped,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
             **dump.environment(key.arch, dumped)},
    )  # fmt: skip
    found = sorted({path for pattern in dump.patterns for path in dumped.rglob(pattern)})
    files = {}
    for number, path in enumerate(found):
        kept = work / f"{number}.{dump.kind}"
        kept.write_bytes(path.read_bytes())
        files[f"{dump.kind}{number}"] = kept
    if not files:
        message = _message(run.stderr or run.why(), source, text)
        return Compiled(ok=False, arch=key.arch, compiler=key.compiler, messages=(message,)), {}
    whole = hashlib.sha256(b"".join(path.read_bytes() for path in files.values())).hexdigest()
    return (
        Compiled(
            ok=True,
            arch=key.arch,
            compiler=key.compiler,
            resources=dump.resources(list(files.values())),
            artifact_sha256=whole,
        ),
        files,
    )


def _message(stderr: str, source: Path, text: str) -> CompileMessage:
    """The last telling line, with the line of the user's file where it has one."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()] or ["no machine code"]
    last = lines[-1]
    place = f"{source.resolve()}:"
    number = None
    if last.startswith(place):
        digits, _, rest = last.removeprefix(place).partition(":")
        number, last = (int(digits), rest.strip()) if digits.isdigit() else (None, last)
    source_lines = text.splitlines()
    return CompileMessage(
        severity="error",
        message=last,
        line=number,
        text=source_lines[number - 1] if number and number <= len(source_lines) else "",
    )
