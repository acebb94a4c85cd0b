"""A run folder on disk: one writer, whole files, every measured file's hash in the journal."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from kbs_engine.blobs import BlobStore
from kbs_engine.durable import make_folder, told_unwritable, write_whole
from kbs_engine.errors import InputError, RefusedError, StoreError, UsageError
from kbs_engine.jobs import Job, Result
from kbs_engine.run.events import result_hash
from kbs_engine.run.files import as_json, read_bytes, read_record, read_text, sha256_of
from kbs_engine.run.git import RunGit
from kbs_engine.run.heads import head_file
from kbs_engine.run.journal import Journal
from kbs_engine.run.layout import Layout, VersionLayout
from kbs_engine.run.lock import WriterLock
from kbs_engine.run.settings import Settings
from kbs_engine.run.state import State
from kbs_engine.shell import shell

R = TypeVar("R")


class RunFolder:
    """One run. ``create`` and ``open`` make it; reading takes no lock, writing takes the run's.

    ``home`` is the home folder, which keeps the head of the journal; None does without.
    """

    def __init__(self, root: Path, *, home: Path | None = None, writing: bool = False) -> None:
        """Use ``create`` or ``open``."""
        self.root = root
        self.paths = Layout(root)
        self.blobs = BlobStore(self.paths.blobs)
        self.git = RunGit(root)
        self._lock = WriterLock(self.paths.lock)
        if writing:
            self._lock.acquire()
        with contextlib.ExitStack() as undo:
            undo.callback(self._lock.release)  # after Ctrl-C too the lock must not stay
            self.journal = Journal(self.paths.journal, head_file=head_file(root, home))
            if writing:
                self.journal.open_for_writing()
            undo.pop_all()

    @classmethod
    def create(
        cls,
        root: Path,
        state: State,
        *,
        reference: bytes | str,
        baseline: bytes | str,
        home: Path | None = None,
    ) -> RunFolder:
        """Make a run with v0's kernel in place; UsageError where a run stands already.

        The state's reference and baseline hashes must be those of the contents given.
        """
        for name, content in (("reference", reference), ("baseline", baseline)):
            if getattr(state, f"{name}_sha256") != sha256_of(content):
                raise ValueError(f"{name}_sha256 of the state is not the hash of the {name}")
        if root.exists() and any(root.iterdir()):
            raise UsageError(
                "a folder with files in it cannot become a new run",
                where=str(root),
                remedy="resume it with `kbs loop resume`, name another with --output, or remove "
                "the folder where its v0 cannot pass"
                if Layout(root).state.is_file() or Layout(root).journal.is_file()
                else "name a new or an empty folder with --output",
            )
        make_folder(root)
        head = head_file(root, home)
        if head is not None:
            with told_unwritable(head):
                head.unlink(missing_ok=True)  # of a run that stood here and was removed
        run = cls(root, home=home, writing=True)
        run.git.init()
        run.blobs.put(reference)
        run.blobs.put(baseline)
        write_whole(run.paths.reference, reference)
        v0 = run.version(0)
        write_whole(v0.kernel(state.settings.kernel_suffix), baseline)
        run.journal.append(
            "run_started",
            run_id=state.run_id,
            settings=state.settings,
            reference_sha256=state.reference_sha256,
            baseline_sha256=state.baseline_sha256,
        )
        run.note_artifact(run.paths.reference)
        run.note_artifact(v0.kernel(state.settings.kernel_suffix))
        run.save_state(state)
        return run

    @classmethod
    def open(
        cls, root: Path, *, home: Path | None = None, writing: bool = False, mending: bool = False
    ) -> RunFolder:
        """Open a run; InputError when there is none, StoreError when it is locked or broken.

        ``mending``: whoever opens it writes state.json again, where that is gone.
        """
        begun = Layout(root).journal.is_file()
        if Layout(root).state.is_file() or (begun and mending):
            return cls(root, home=home, writing=writing)
        message, remedy = (
            "no run stands here (state.json is missing)",
            ("name a run folder (run_YYYYMMDD_HHMMSS), or start one with `kbs loop init`"),
        )
        if begun:
            message = "state.json of this run is gone"
            remedy = f"`kbs loop resume {shell(root)}` writes it again from the journal"
        raise InputError(message, where=str(root), remedy=remedy)

    def __enter__(self) -> RunFolder:  # noqa: PYI034 - typing.Self is younger than 3.10
        """The run itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the lock up."""
        self.close()

    def close(self) -> None:
        """Give the lock up; files need no closing."""
        self._lock.release()

    # state

    def state(self) -> State:
        """state.json."""
        return read_record(self.paths.state, State)

    def save_state(self, state: State) -> None:
        """Replace state.json; only the writer may."""
        self._must_write(self.paths.state)
        write_whole(self.paths.state, as_json(state))

    def version(self, number: int) -> VersionLayout:
        """Paths of a version."""
        return self.paths.version(number)

    def kernel_path(self, number: int) -> Path:
        """The champion's source of a version."""
        return self.version(number).kernel(self.state().settings.kernel_suffix)

    # artifacts

    def write(self, path: Path, record: Any) -> None:
        """Write a record as JSON and put its hash into the journal."""
        self.write_text(path, as_json(record))

    def write_text(self, path: Path, text: bytes | str) -> None:
        """Write a file whole and put its hash into the journal."""
        self._must_write(path)
        write_whole(path, text)
        self._note(path, sha256_of(text))

    def note_artifact(self, path: Path) -> None:
        """Put the hash of a file that stands already into the journal."""
        self._note(path, sha256_of(read_bytes(path)))

    def read(self, path: Path, kind: type[R]) -> R:
        """A record; InputError says what is wrong with the file."""
        return read_record(path, kind)

    def read_text(self, path: Path) -> str:
        """A text file."""
        return read_text(path)

    def relative(self, path: Path) -> str:
        """The path as the journal names it."""
        return path.relative_to(self.root).as_posix()

    def _note(self, path: Path, sha256: str) -> None:
        name = self.relative(path)
        if self.journal.artifact(name) != sha256:
            self.journal.append("artifact", path=name, sha256=sha256)

    # jobs

    def job_started(self, job: Job) -> None:
        """Record that a job is in flight."""
        self.journal.job_started(job)

    def job_finished(self, job: Job, result: Result) -> None:
        """Sync the answer to disk, then record it: from now on it is never asked again."""
        if result.job_key != job.key:
            raise ValueError("the answer belongs to another job")
        self._must_write(self.paths.results)
        write_whole(self.paths.result(job.key), as_json(result))
        self.journal.job_finished(result, kind=_tag(job))

    def finished(self, job_or_key: Job | str) -> Result | None:
        """The stored answer of a finished job, or None.

        Raises:
            StoreError: The journal says that it finished, and its answer is gone or changed.
        """
        key = job_or_key if isinstance(job_or_key, str) else job_or_key.key
        row = self.journal.finished_job(key)
        if row is None:
            return None
        path = self.paths.result(key)
        if not path.exists():
            raise StoreError(
                f"the answer of a finished {row.kind} job is gone",
                where=str(path),
                remedy="restore .kbs/results of this run from a copy; nothing is measured twice",
            )
        try:
            result = read_record(path, Result)
        except InputError as problem:
            raise _changed(row.kind, path) from problem
        if result_hash(result) != row.result_sha256:
            raise _changed(row.kind, path)
        return result

    def gpu_seconds(self) -> float:
        """GPU time of all finished jobs that told it, in seconds."""
        return sum(row.gpu_time_s or 0.0 for row in self.journal.finished_jobs().values())

    def current(self) -> int | None:
        """The version that current_iteration.txt names; None before the first gate."""
        if not self.paths.current.exists():
            return None
        text = read_text(self.paths.current).strip()
        number = text.removeprefix("v")
        if not number.isdecimal():
            raise InputError(
                f"does not name a version: {text[:40]!r}",
                where=str(self.paths.current),
                remedy="only the gate moves this file: `kbs loop status` says what it should name",
            )
        return int(number)

    def advance(self, passed: int) -> int:
        """After the gate on ``passed``: name the next version current, make its folder.

        Only ``kbs_engine.gate.pass_version`` calls this. Safe to repeat after a crash.
        """
        self._must_write(self.paths.current)
        following = passed + 1
        write_whole(self.paths.current, f"v{following}\n")
        make_folder(self.version(following).root)
        opened = self.journal.of_kind("version_opened")
        if not opened or opened[-1].data["version"] != following:
            self.journal.append("version_opened", version=following)
        return following

    def begin_epoch(self, number: int, settings: Settings, *, reason: str) -> None:
        """Record the settings of a new epoch; the gate holds every later job to them."""
        self._must_write(self.paths.journal)
        self.journal.append("epoch", number=number, settings=settings, reason=reason)

    def open_version(self, number: int) -> VersionLayout:
        """The folder of the current version, made again where a crash came between.

        Raises:
            RefusedError: The gate has not opened this version.
        """
        allowed = self.current() or 0
        if number > allowed:
            raise RefusedError(
                f"v{number} is not open: the gate stands at v{allowed}",
                where=str(self.root),
                remedy=f"pass `kbs gate {shell(self.version(allowed).root)}` first",
            )
        layout = self.version(number)
        make_folder(layout.root)
        return layout

    def _must_write(self, path: Path) -> None:
        if not self._lock.held:
            raise StoreError(
                "the run is open for reading", where=str(path), remedy="open it for writing"
            )


def _changed(kind: str, path: Path) -> StoreError:
    return StoreError(
        f"the answer of a finished {kind} job was changed after the fact",
        where=str(path),
        remedy="restore the file from a copy of the run",
    )


def _tag(job: Job) -> str:
    """The kind of a job, as results name it."""
    return str(type(job).__struct_config__.tag)
