"""Triton: ``setup`` and ``run_kernel`` in a .py file; compiled for any target without a GPU."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from kbs_backends.languages import triton_resources
from kbs_backends.languages.arguments import arguments_for
from kbs_backends.languages.base import Built, Call, Listings
from kbs_backends.languages.cache import CacheKey, CompileCache
from kbs_backends.languages.imports import imports
from kbs_backends.languages.machine_code import listings_of
from kbs_backends.languages.placement import PretendChip, without_gpu
from kbs_backends.languages.python_kernel import PythonKernel, call_setup
from kbs_backends.languages.sources import read_source
from kbs_backends.languages.triton_interpreter import compute_as_compiled
from kbs_backends.languages.triton_launches import (
    Launched,
    launches_for,
    no_target,
    pinned_configuration,
)
from kbs_backends.languages.user_code import failures_by_line, import_file
from kbs_engine.errors import InputError, MeasurementError, UsageError
from kbs_engine.results import Compiled, CompileMessage, KernelResources
from kbs_engine.vocabulary import Language


class Triton:
    """Triton kernels. ``Built.files``: ``cubin0``, ``ptx0``… or ``amdgcn0``…, one a kernel."""

    name: Language = "triton"
    suffixes: tuple[str, ...] = (".py",)

    def detect(self, text: str) -> bool:
        """Whether the file imports triton."""
        return imports(text, "triton")

    def compile(
        self,
        source: Path,
        arch: str,
        *,
        cache: CompileCache,
        flags: Sequence[str] = (),
        call: Call | None = None,
    ) -> Built:
        """Every kernel that one call launches, for ``arch``; see ``LanguageModule.compile``.

        An autotuned kernel is compiled in its first configuration. Runs the user's file.
        """
        if flags:
            raise UsageError(
                f"Triton takes no compiler flags ({' '.join(flags)})",
                remedy="set num_warps, num_stages or maxnreg in the launch",
            )
        text = read_source(source)
        call = call or Call()
        key = CacheKey(
            source_sha256=hashlib.sha256(text.encode()).hexdigest(),
            arch=arch,
            compiler=triton_version(),
            call=_call_key(call),
        )

        def build(work: Path) -> tuple[Compiled, Mapping[str, Path]]:
            return _build(source, text, key, call, work)

        compiled, files = cache.build(key, build)
        return Built(compiled=compiled, files=files)

    def listings(
        self,
        source: Path,
        arch: str,
        *,
        cache: CompileCache,
        flags: Sequence[str] = (),
        call: Call | None = None,
    ) -> Listings:
        """SASS or AMD ISA of every launched kernel; see ``LanguageModule.listings``."""
        return listings_of(
            self.compile(source, arch, cache=cache, flags=flags, call=call), str(source)
        )

    def load(self, source: Path, artifact: Path | None = None, *, name: str = "") -> PythonKernel:
        """``run_kernel``; Triton compiles at its first call.

        In the interpreter (TRITON_INTERPRET=1) autotuned kernels take their first configuration,
        and it computes as compiled kernels do.
        """
        del artifact
        if os.environ.get("TRITON_INTERPRET") != "1":
            return PythonKernel.load(source, name)
        compute_as_compiled()
        return InterpretedKernel.load(source, name)


class InterpretedKernel(PythonKernel):
    """A kernel that Triton's interpreter runs on CPU tensors."""

    def __call__(self, **inputs: Any) -> object:
        """Run once."""
        with pinned_configuration():
            return super().__call__(**inputs)

    def prepare(self, **inputs: Any) -> Callable[[], object]:
        """One run with these arguments."""
        bare = super().prepare(**inputs)

        def call() -> object:
            with pinned_configuration():
                return bare()

        return call


def triton_version() -> str:
    """Name and version; MeasurementError when it is not installed."""
    try:
        return f"triton {metadata.version('triton')}"
    except metadata.PackageNotFoundError as problem:
        raise MeasurementError(
            "the package triton is not installed, so Triton kernels cannot be compiled",
            remedy="pip install triton (Linux)",
        ) from problem


def _call_key(call: Call) -> dict[str, Any]:
    reference = ""
    if call.reference is not None:
        reference = hashlib.sha256(read_source(call.reference).encode()).hexdigest()
    plain: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(call, reference=None))
    return {**plain, "reference": reference}


def _build(
    source: Path, text: str, key: CacheKey, call: Call, work: Path
) -> tuple[Compiled, Mapping[str, Path]]:
    from triton.compiler.errors import CompilationError

    try:
        launched = _launch(source, key.arch, call)
    except CompilationError as problem:
        message = _message(problem, text)
        return Compiled(ok=False, arch=key.arch, compiler=key.compiler, messages=(message,)), {}
    except InputError as problem:
        from kbs_backends.languages.triton_targets import PASSES_FAILED, has_target

        if PASSES_FAILED in problem.message and not has_target(key.arch):
            raise no_target(key.arch) from problem
        raise
    if not launched:
        raise InputError(
            "run_kernel launches no Triton kernel", where=str(source),
            remedy="launch one with kernel[grid](...), or name the right --language",
        )  # fmt: skip
    files = dict(_write(launched, work))
    resources = tuple(dict.fromkeys(_resources(kernel, key.arch, work) for kernel in launched))
    whole = hashlib.sha256(b"".join(path.read_bytes() for path in files.values())).hexdigest()
    compiled = Compiled(
        ok=True,
        arch=key.arch,
        compiler=key.compiler,
        resources=resources,
        artifact_sha256=whole,
    )
    return compiled, files


def _launch(source: Path, arch: str, call: Call) -> list[Launched]:
    """One call on fake tensors; equal kernels are listed once."""
    from triton.compiler.errors import CompilationError

    chip = PretendChip(capability=_capability(arch), unit_count=call.unit_count)
    problems: list[CompilationError] = []
    with launches_for(arch) as found, without_gpu(fake=True, chip=chip):
        kernel = PythonKernel.load(source)
        inputs = arguments_for(kernel, _inputs(kernel, call), call.dims)
        with failures_by_line(source, "run_kernel fails"):
            try:
                kernel.prepare(**inputs)()
            except CompilationError as problem:
                problems.append(problem)
    if problems:
        raise problems[0]
    distinct = {(launch.name, str(sorted(launch.constants.items())), _code(launch)): launch
                for launch in found}  # fmt: skip
    return list(distinct.values())


def _code(launch: Launched) -> str:
    return str(launch.asm.get("ptx", launch.asm.get("amdgcn", "")))


def _inputs(kernel: PythonKernel, call: Call) -> dict[str, Any]:
    """By the reference's setup where it has one, else by the kernel's own."""
    if call.reference is not None:
        module = import_file(call.reference)
        if callable(getattr(module, "setup", None)):
            return call_setup(module.setup, call.dims, call.reference, seed=0)[0]
    return call_setup(kernel.setup, call.dims, kernel.source, seed=0)[0]


def _capability(arch: str) -> tuple[int, int] | None:
    number = re.match(r"^sm_(\d+)(\d)[af]?$", arch)
    return (int(number.group(1)), int(number.group(2))) if number else None


def _write(launched: Sequence[Launched], work: Path) -> Iterator[tuple[str, Path]]:
    for number, kernel in enumerate(launched):
        for stage in ("cubin", "ptx", "amdgcn"):
            content = kernel.asm.get(stage)
            if content is None:
                continue
            path = work / f"{number}.{stage}"
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            yield f"{stage}{number}", path


def _resources(kernel: Launched, arch: str, work: Path) -> KernelResources:
    threads = kernel.warps * kernel.warp_size
    if "amdgcn" in kernel.asm:
        return triton_resources.of_amdgcn(kernel, threads)
    return triton_resources.of_ptx(kernel, arch, threads, work)


def _message(problem: Any, text: str) -> CompileMessage:
    """Triton's error, at the line of the user's file where its function's source stands."""
    innermost = problem
    while type(innermost.__cause__) is type(problem):
        innermost = innermost.__cause__
    node, piece = innermost.node, innermost.src
    reason = innermost.error_message or str(innermost.__cause__ or innermost)
    line = None
    lines = text.splitlines()
    if node is not None and piece:
        start = _line_of(piece, lines)
        line = start + node.lineno if start is not None else None
    return CompileMessage(
        severity="error",
        message=reason.strip().splitlines()[0] if reason.strip() else "does not compile",
        line=line,
        column=node.col_offset + 1 if line is not None else None,
        text=lines[line - 1] if line is not None and line <= len(lines) else "",
    )


def _line_of(piece: str, lines: Sequence[str]) -> int | None:
    """Lines before the function whose source is ``piece``, in the file."""
    wanted = [part.strip() for part in piece.splitlines() if part.strip()][:2]
    stripped = [line.strip() for line in lines]
    for number, line in enumerate(stripped):
        if wanted and line == wanted[0] and wanted[-1] in stripped[number : number + 3]:
            return number
    return None
