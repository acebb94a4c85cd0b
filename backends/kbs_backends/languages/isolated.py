"""Compile Python kernels in a process of its own: compiling them executes the user's file."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from kbs_backends.languages.base import Built, Call
from kbs_backends.languages.cache import CompileCache
from kbs_backends.languages.detect import language
from kbs_backends.languages.messages import read_message, written
from kbs_backends.run_tool import run_tool
from kbs_engine.durable import write_whole
from kbs_engine.errors import InputError, KbsError, MeasurementError, StoreError, UsageError
from kbs_engine.results import Compiled

TIMEOUT_S = 180.0
_ERRORS: dict[str, type[KbsError]] = {
    kind.__name__: kind for kind in (InputError, MeasurementError, StoreError, UsageError)
}


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the other process is asked."""

    language: str
    source: Path
    arch: str
    cache: Path
    flags: tuple[str, ...] = ()
    call: Call | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What it says: what was built, or the error by its class and parts."""

    compiled: Compiled | None = None
    files: dict[str, Path] = msgspec.field(default_factory=dict)
    error: str = ""
    message: str = ""
    where: str = ""
    remedy: str = ""


def compile_apart(
    name: str,
    source: Path,
    arch: str,
    *,
    cache: CompileCache,
    flags: Sequence[str] = (),
    call: Call | None = None,
    timeout_s: float = TIMEOUT_S,
) -> Built:
    """As ``LanguageModule.compile``; Python files are compiled in another interpreter.

    Raises:
        MeasurementError: That process crashed or took longer than ``timeout_s``.
    """
    module = language(name)
    given = call.reference if call is not None else None
    if ".py" not in module.suffixes:
        return module.compile(source, arch, cache=cache, flags=flags, call=call)
    if call is not None and call.reference is not None:
        call = msgspec.structs.replace(call, reference=call.reference.resolve())
    request = Request(
        language=module.name,
        source=source.resolve(),
        arch=arch,
        cache=cache.folder.resolve(),
        flags=tuple(flags),
        call=call,
    )
    answer = _ask(request, source, timeout_s)
    if answer.compiled is None:
        kind = _ERRORS.get(answer.error, MeasurementError)
        where = _as_given(answer.where, source, given)
        raise kind(answer.message, where=where, remedy=answer.remedy)
    return Built(compiled=answer.compiled, files=answer.files)


_NO_TARGET = "LLVM ERROR: Cannot select"
"""What LLVM says of instructions that a target does not have, before it ends the process."""


def _as_given(where: str, *paths: Path | None) -> str:
    """Paths as the caller wrote them."""
    for path in paths:
        if path is not None:
            where = where.replace(str(path.resolve()), str(path))
    return where


def _ask(request: Request, source: Path, timeout_s: float) -> Answer:
    with tempfile.TemporaryDirectory(prefix="kbs-compile-") as folder:
        asked, told = Path(folder) / "request.json", Path(folder) / "answer.json"
        asked.write_bytes(written(request))
        run = run_tool(
            (sys.executable, "-m", "kbs_backends.languages.isolated", str(asked), str(told)),
            timeout_s=timeout_s,
            cwd=Path(folder),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )
        try:
            return read_message(told.read_bytes(), Answer)
        except (OSError, msgspec.MsgspecError) as problem:
            remedy = "run the file by itself and read its output"
            if _NO_TARGET in run.why():
                remedy = f"name a target that the compiler knows, such as sm_90, for {request.arch}"
            raise MeasurementError(
                f"the compiling process died: {run.why()}", where=str(source), remedy=remedy
            ) from problem


def main(asked: Path, told: Path) -> None:
    """Answer one request; the answer is a file, because user code prints."""
    request = read_message(asked.read_bytes(), Request)
    try:
        built = language(request.language).compile(
            request.source,
            request.arch,
            cache=CompileCache(request.cache),
            flags=request.flags,
            call=request.call,
        )
        answer = Answer(compiled=built.compiled, files=dict(built.files))
    except KbsError as problem:
        answer = Answer(
            error=type(problem).__name__,
            message=problem.message,
            where=problem.where,
            remedy=problem.remedy,
        )
    write_whole(told, written(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
