"""CUDA C++: a .cu file with ``extern "C" void solve(...)``, compiled here with nvcc."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kbs_backends.languages import nvcc
from kbs_backends.languages.base import Built, Call, Listings, Signature
from kbs_backends.languages.cache import CacheKey, CompileCache
from kbs_backends.languages.ctypes_call import SolveCall
from kbs_backends.languages.cubin import launch_bounds
from kbs_backends.languages.machine_code import listings_of
from kbs_backends.languages.signature import solve_signature
from kbs_backends.languages.sources import read_source
from kbs_engine.errors import InputError
from kbs_engine.results import Compiled, CompileMessage
from kbs_engine.vocabulary import Language

_QUOTED = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


class CudaCpp:
    """CUDA C++ through nvcc. ``Built.files`` holds ``library`` and ``cubin``."""

    name: Language = "cuda-cpp"
    suffixes: tuple[str, ...] = (".cu",)

    def detect(self, text: str) -> bool:
        """Any .cu file that is nothing else."""
        del text
        return True

    def include_flags(self) -> tuple[tuple[str, ...], str]:
        """Options for headers beyond CUDA's, and the version that the cache key holds."""
        return (), ""

    def signature(self, source: Path) -> Signature:
        """The parameters of ``solve``; InputError with file and line otherwise."""
        return solve_signature(read_source(source), str(source))

    def compile(
        self,
        source: Path,
        arch: str,
        *,
        cache: CompileCache,
        flags: Sequence[str] = (),
        call: Call | None = None,
    ) -> Built:
        """A library and a cubin for ``arch``; see ``LanguageModule.compile``."""
        del call
        nvcc.check_arch(arch)
        text = read_source(source)
        solve_signature(text, str(source))
        version = nvcc.nvcc_version()
        includes, headers = self.include_flags()
        key = CacheKey(
            source_sha256=_with_headers(source, text),
            arch=arch,
            compiler=" ".join(part for part in (version, headers) if part),
            flags=(*flags, *includes),
        )

        def build(work: Path) -> tuple[Compiled, Mapping[str, Path]]:
            return _build(source, text, key, (*includes, *flags), work)

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
        """SASS of every kernel; see ``LanguageModule.listings``."""
        built = self.compile(source, arch, cache=cache, flags=flags, call=call)
        return listings_of(built, str(source))

    def load(self, source: Path, artifact: Path | None = None, *, name: str = "") -> SolveCall:
        """``solve`` of ``artifact``, the compiled library.

        Raises:
            InputError: No library was given: sources are compiled first.
        """
        del name
        if artifact is None:
            raise InputError(
                "a .cu file is loaded from its compiled library", where=str(source),
                remedy="compile it first and pass Built.library, or prebuilt_library()",
            )  # fmt: skip
        return SolveCall(artifact, self.signature(source), str(source))


def prebuilt_library(source: Path) -> Path:
    """The .so beside a .cu file, for those who ask for it; whoever uses it must say so.

    Nothing shows that it was made from this source: results must carry the label ``prebuilt``.
    """
    library = source.with_suffix(".so")
    if not library.is_file():
        raise InputError(
            "no prebuilt library beside the source", where=str(library),
            remedy="compile it there, or leave the prebuilt option out: kbs compiles by itself",
        )  # fmt: skip
    return library


def _build(
    source: Path, text: str, key: CacheKey, flags: Sequence[str], work: Path
) -> tuple[Compiled, Mapping[str, Path]]:
    library = work / "kernel.so"
    command = nvcc.compile_command(source.resolve(), library, key.arch, flags, work)
    run = nvcc.run_nvcc(command, work)
    output = run.stderr + "\n" + run.stdout
    messages = nvcc.messages_of(output, source, text)
    ok = run.ok and library.exists()
    if not ok and not any(message.severity == "error" for message in messages):
        messages = (*messages, CompileMessage(severity="error", message=nvcc.first_error(run)))
    files = {"library": library} if ok else {}
    cubin = work / f"{source.stem}.cubin"
    if ok and cubin.exists():
        files["cubin"] = cubin
    bounds = launch_bounds(cubin) if "cubin" in files else {}
    return (
        Compiled(
            ok=ok,
            arch=key.arch,
            compiler=key.compiler,
            messages=messages,
            resources=nvcc.resources_of(output, bounds) if ok else (),
            artifact_sha256=hashlib.sha256(library.read_bytes()).hexdigest() if ok else "",
        ),
        files,
    )


def _with_headers(source: Path, text: str) -> str:
    """Hash of the source and of every header that it includes from its own folder."""
    whole = hashlib.sha256(text.encode())
    for header in _local_headers(source.parent, text, set()):
        whole.update(header.name.encode() + b"\0" + header.read_bytes())
    return whole.hexdigest()


def _local_headers(folder: Path, text: str, seen: set[Path]) -> Iterator[Path]:
    for name in _QUOTED.findall(text):
        path = (folder / name).resolve()
        if path.is_file() and path not in seen:
            seen.add(path)
            yield path
            yield from _local_headers(
                path.parent, path.read_text(encoding="utf-8", errors="replace"), seen
            )
