"""Compile and Disassemble: delegated to the language modules; no GPU, no owner."""

from __future__ import annotations

from pathlib import Path

import msgspec

from kbs_backends.languages import Call, CompileCache
from kbs_engine.blobs import BlobStore
from kbs_engine.durable import write_whole
from kbs_engine.errors import InputError
from kbs_engine.jobs import Compile, Disassemble, Provenance, Result, SourceRef, Task
from kbs_engine.results import Compiled, CompileMessage


class StaticJobs:
    """Compiles sources of a blob store with a cache by content."""

    def __init__(self, blobs: BlobStore, workdir: Path) -> None:
        """``workdir`` holds the cache and the sources under their own names."""
        self._blobs = blobs
        self._workdir = workdir
        self._cache = CompileCache(workdir / "cache")

    def run(self, job: Compile | Disassemble) -> Result:
        """Answer a job; KbsError where the compiler is not here or the file is no kernel."""
        if isinstance(job, Compile):
            compiled = self._compile(job.source, job.arch, job.flags, job.task)
            return _result(job, "compile", msgspec.to_builtins(compiled))
        from kbs_backends.languages import LANGUAGES

        module = LANGUAGES[job.source.language]
        listings = module.listings(
            self.file(job.source), job.arch, cache=self._cache, call=self._call(job.task)
        )
        sha256 = self._blobs.put(listings.text)
        answer = msgspec.structs.replace(listings.disassembled, text_sha256=sha256)
        return _result(job, "disassemble", msgspec.to_builtins(answer))

    def library(self, source: SourceRef, arch: str, task: Task) -> Path | Compiled:
        """The library to load, or why there is none."""
        from kbs_backends.languages import LANGUAGES

        built = LANGUAGES[source.language].compile(
            self.file(source), arch, cache=self._cache, call=self._call(task)
        )
        return built.library if built.compiled.ok and built.library else built.compiled

    def file(self, source: SourceRef) -> Path:
        """The source as a file with its own name, so that compilers name it."""
        name = Path(source.name).name or "kernel"
        return self._whole(self._workdir / "sources" / source.sha256[:16] / name, source.sha256)

    def reference(self, task: Task) -> Path:
        """The reference as a file."""
        folder = self._workdir / "references" / task.reference_sha256[:16]
        return self._whole(folder / "ref.py", task.reference_sha256)

    def _whole(self, path: Path, sha256: str) -> Path:
        """The file with a blob's content: several threads ask for one, and none sees half of it."""
        if not path.exists():
            write_whole(path, self._blobs.get(sha256))
        return path

    def _compile(
        self, source: SourceRef, arch: str, flags: tuple[str, ...], task: Task | None
    ) -> Compiled:
        from kbs_backends.languages import LANGUAGES

        try:
            built = LANGUAGES[source.language].compile(
                self.file(source), arch, cache=self._cache, flags=flags, call=self._call(task)
            )
        except InputError as problem:  # the file is no kernel: one candidate less, not no run
            told = CompileMessage(severity="error", message=problem.message)
            return Compiled(ok=False, arch=arch, compiler=source.language, messages=(told,))
        return built.compiled

    def _call(self, task: Task | None) -> Call | None:
        if task is None:
            return None
        reference = self.reference(task) if task.reference_sha256 else None
        return Call(
            dims=task.dims, reference=reference, outputs=task.outputs, ptr_size=task.ptr_size
        )


def _result(job: Compile | Disassemble, kind: str, value: dict[str, object]) -> Result:
    from kbs_backends.device.versions import library_versions

    return Result(
        job_key=job.key, kind=kind, value=value,
        provenance=Provenance(versions=library_versions()),
    )  # fmt: skip
