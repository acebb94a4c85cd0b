"""An audit of files and trees, on several processes where it pays."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path

import msgspec

from kbs_engine.errors import InputError, UsageError
from kbs_ingest.audit.fix import Edit, reanchored, write_whole
from kbs_ingest.audit.judge import Judge
from kbs_ingest.audit.knowledge import Knowledge
from kbs_ingest.audit.model import AuditReport, Citation, Cited, FileReport, Uncited, Verdict
from kbs_ingest.audit.scan import scan_text
from kbs_ingest.audit.suspects import suspects

MAX_BYTES = 50 * 1024 * 1024
BATCH = 64
POOL_FROM = 256
"""Fewer files are read faster by one process."""
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
_HEAD = 8192

Progress = Callable[[int, int], None]


class _Worker:
    """What one process keeps between batches."""

    judge: Judge | None = None


def audit_paths(
    paths: Sequence[Path],
    knowledge: Knowledge,
    *,
    fix: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> AuditReport:
    """Audit files and folders; UsageError when one is not there."""
    files = list(dict.fromkeys(_files(paths)))
    jobs = jobs or os.cpu_count() or 1
    batches = [files[start : start + BATCH] for start in range(0, len(files), BATCH)]
    if jobs > 1 and len(files) >= POOL_FROM:
        reports = _in_pool(batches, knowledge, jobs, fix=fix, progress=progress)
    else:
        reports = _in_turn(batches, knowledge, fix=fix, progress=progress)
    return AuditReport(
        files=sum(not report.note for report in reports),
        citations=tuple(row for report in reports for row in report.citations),
        uncited=tuple(row for report in reports for row in report.uncited),
        notes=tuple(f"{report.file}: {report.note}" for report in reports if report.note),
    )


def audit_file(path: Path, judge: Judge, *, fix: bool = False) -> FileReport:
    """Audit one file; a note tells why one was not read."""
    shown = _shown(path)
    data, note = _read(path)
    if note:
        return FileReport(file=shown, note=note)
    text = data.decode("utf-8", "surrogateescape")
    suffix = path.suffix.lower()
    scan = scan_text(text, suffix)
    rows: list[Cited] = []
    edits: list[Edit] = []
    told: list[Uncited] = []
    for citation in scan.citations:
        verdict = judge.judge(citation)
        mend = False
        if fix and verdict.verdict == "moved" and citation.span and verdict.line:
            mend = text[slice(*citation.span)].isdecimal()
            if mend:
                edits.append((citation.span, verdict.line))
        rows.append(
            Cited(
                file=shown,
                line=citation.line,
                verdict=verdict.verdict,
                text=_clean(citation.text),
                detail=f"{verdict.detail}{'; re-anchored' if mend else ''}",
                fixed=mend,
                predates=verdict.predates,
            )
        )
        if verdict.unexplained and verdict.verdict == "ok":
            told.append(_told(shown, citation, verdict))
    if edits:
        changed = reanchored(text, edits).encode("utf-8", "surrogateescape")
        if changed != data:
            write_whole(path, changed)
    found = [
        msgspec.structs.replace(row, text=_clean(row.text)) for row in suspects(scan, suffix, shown)
    ]
    return FileReport(file=shown, citations=tuple(rows), uncited=(*found, *told))


def _told(shown: str, citation: Citation, verdict: Verdict) -> Uncited:
    """The words of a citation that holds, of which the cited row says nothing."""
    words = ", ".join(map(repr, verdict.unexplained))
    text = _clean(f"{citation.text} (the row does not explain {words})")
    return Uncited(file=shown, line=citation.line, text=text, kind="unexplained")


def _clean(text: str) -> str:
    """Text that every output can hold."""
    return text.encode("utf-8", "replace").decode("utf-8", "replace")


def _shown(path: Path) -> str:
    return _clean(path.as_posix())


def _read(path: Path) -> tuple[bytes, str]:
    """Content, or a note why there is none."""
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            return b"", "not a regular file, skipped"
        if state.st_size > MAX_BYTES:
            return b"", f"{state.st_size} bytes, more than {MAX_BYTES}, skipped"
        with path.open("rb") as file:
            head = file.read(_HEAD)
            if b"\0" in head:
                return b"", "binary, skipped"
            return head + file.read(MAX_BYTES), ""
    except OSError as error:
        return b"", f"cannot be read: {_why(error)}"


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from _walk(path)
        elif path.exists():
            yield path
        else:
            raise UsageError(_absence(path), where=str(path), remedy="name what is to be audited")


def _absence(path: Path) -> str:
    """Why a path leads to nothing."""
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            return _why(error)
        if path.is_symlink():
            return f"the link leads to {path.readlink()}, where no such file or folder is"
    return "no such file or folder"


def _why(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "a loop of symbolic links, which leads to no file"
    return error.strerror or "the system gives no reason"


def _walk(root: Path) -> Iterator[Path]:
    for folder, subfolders, names in os.walk(root, followlinks=False):
        subfolders[:] = sorted(
            name for name in subfolders if name[0] != "." and name not in _SKIPPED_FOLDERS
        )
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(folder) / name


def _start(knowledge: Knowledge) -> None:
    _Worker.judge = Judge(knowledge)


def _batch(files: Sequence[Path], *, fix: bool) -> list[FileReport]:
    if _Worker.judge is None:
        raise InputError("the worker has no wiki", remedy="this is a bug in kbs")
    return [audit_file(path, _Worker.judge, fix=fix) for path in files]


def _in_turn(
    batches: Sequence[Sequence[Path]],
    knowledge: Knowledge,
    *,
    fix: bool,
    progress: Progress | None,
) -> list[FileReport]:
    judge = Judge(knowledge)
    total = sum(map(len, batches))
    reports: list[FileReport] = []
    for batch in batches:
        reports.extend(audit_file(path, judge, fix=fix) for path in batch)
        if progress:
            progress(len(reports), total)
    return reports


def _in_pool(
    batches: Sequence[Sequence[Path]],
    knowledge: Knowledge,
    jobs: int,
    *,
    fix: bool,
    progress: Progress | None,
) -> list[FileReport]:
    """Batches on processes; those that a broken pool leaves undone are done here."""
    done: dict[int, list[FileReport]] = {}
    total = sum(map(len, batches))
    try:
        with ProcessPoolExecutor(
            min(jobs, len(batches)),
            mp_context=get_context(_start_method()),
            initializer=_start,
            initargs=(knowledge,),
        ) as pool:
            waiting: dict[Future[list[FileReport]], int] = {
                pool.submit(_batch, batch, fix=fix): number for number, batch in enumerate(batches)
            }
            for future in as_completed(waiting):
                done[waiting[future]] = future.result()
                if progress:
                    progress(sum(map(len, done.values())), total)
    except (BrokenProcessPool, OSError, ImportError):
        left = [number for number in range(len(batches)) if number not in done]
        for number in left:
            done[number] = _in_turn([batches[number]], knowledge, fix=fix, progress=None)
    return [report for number in range(len(batches)) for report in done[number]]


def _start_method() -> str:
    """Fork is quick and safe while no other thread runs; elsewhere a fresh process is."""
    if "fork" in get_all_start_methods() and threading.active_count() == 1:
        return "fork"
    return "spawn"
