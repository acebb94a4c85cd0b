"""A run read whole: every record that stands, and a fault for every file that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from kbs_engine.errors import KbsError
from kbs_engine.run.files import read_record, read_text
from kbs_engine.run.folder import RunFolder
from kbs_engine.run.judged import (
    AttributionFile,
    MethodsFile,
    RequestFile,
    RooflineFile,
    SassCheck,
    SearchFile,
)
from kbs_engine.run.layout import VersionLayout
from kbs_engine.run.markdown import parse_evidence, parse_hypothesis, parse_plan
from kbs_engine.run.measured import Bench, Env, NcuTop, Static
from kbs_engine.run.memories import Memory
from kbs_engine.run.memory_record import MemoryRecord
from kbs_engine.run.notes import EvidenceNote, Hypothesis, PlanNote, ShortHypothesis
from kbs_engine.run.state import State, VersionEntry

R = TypeVar("R")


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """A file that stands and cannot be read as what it claims to be."""

    where: str
    message: str
    remedy: str


class PartView(msgspec.Struct, frozen=True, kw_only=True):
    """One branch or ablation."""

    name: str
    bench: Bench | None = None
    static: Static | None = None


class VersionView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that stands in one version's folder; None is not there."""

    number: int
    entry: VersionEntry | None = None
    methods: MethodsFile | None = None
    bench: Bench | None = None
    top: NcuTop | None = None
    roofline: RooflineFile | None = None
    search: SearchFile | None = None
    sass: SassCheck | None = None
    attribution: AttributionFile | None = None
    request: RequestFile | None = None
    hypothesis: Hypothesis | ShortHypothesis | None = None
    evidence: EvidenceNote | None = None
    plan: PlanNote | None = None
    memory: MemoryRecord | None = None
    branches: tuple[PartView, ...] = ()
    ablations: tuple[PartView, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the state records that no branch of this version was ever correct."""
        return self.entry is not None and self.entry.status == "failed"

    @property
    def refused(self) -> bool:
        """Whether its gate refused it for good, so that it was given up and counts for nothing."""
        return self.entry is not None and self.entry.status == "refused"

    @property
    def failure(self) -> str:
        """How it came to nothing, in words; empty unless it is recorded as failed or refused."""
        if self.refused and self.entry is not None:
            return f"refused by its gate and given up ({self.entry.refusal})"
        if not self.failed:
            return ""
        if self.branches:
            return "no branch was correct"
        told = self.memory.pitfalls_and_fixes if self.memory else ()
        why = f" ({told[-1].problem})" if told else ""
        return f"no kernel was written{why}"


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    """A run as its reports and its gate see it."""

    state: State
    env: Env | None = None
    versions: tuple[VersionView, ...] = ()
    benchmark: Bench | None = None
    faults: tuple[Fault, ...] = ()

    @property
    def counting(self) -> tuple[VersionView, ...]:
        """Versions but those that were refused and given up: nothing is concluded from these."""
        return tuple(view for view in self.versions if not view.refused)

    def version(self, number: int | None) -> VersionView | None:
        """One version, or None."""
        return next((view for view in self.versions if view.number == number), None)


class _Reader:
    """Reads files one after another and keeps what went wrong."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def record(self, path: Path, kind: type[R]) -> R | None:
        return self._try(path, lambda: read_record(path, kind))

    def note(self, path: Path, parse: Callable[[str, str], R]) -> R | None:
        return self._try(path, lambda: parse(read_text(path), str(path)))

    def call(self, path: Path, read: Callable[[], R]) -> R | None:
        return self._try(path, read)

    def _try(self, path: Path, read: Callable[[], R]) -> R | None:
        if not path.exists() or not path.stat().st_size:
            return None
        try:
            return read()
        except KbsError as problem:
            where = problem.where or str(path)
            self.faults.append(Fault(where=where, message=problem.message, remedy=problem.remedy))
            return None


def read_version(run: RunFolder, number: int, state: State) -> VersionView:
    """Everything of one version."""
    paths = run.version(number)
    reader = _Reader()
    memory = Memory(run.paths.memory)
    return VersionView(
        number=number,
        entry=state.version(number),
        methods=reader.record(paths.methods, MethodsFile),
        bench=reader.record(paths.bench, Bench),
        top=reader.record(paths.ncu_top, NcuTop),
        roofline=reader.record(paths.roofline, RooflineFile),
        search=reader.record(paths.search, SearchFile),
        sass=reader.record(paths.sass_check, SassCheck),
        attribution=reader.record(paths.attribution, AttributionFile),
        request=reader.record(paths.request, RequestFile),
        hypothesis=reader.note(paths.hypothesis, parse_hypothesis),
        evidence=reader.note(paths.evidence, parse_evidence),
        plan=reader.note(paths.plan, parse_plan),
        memory=reader.call(memory.path(number), lambda: memory.load(number)),
        branches=_parts(paths.branches, reader),
        ablations=_parts(paths.ablations, reader),
        faults=tuple(reader.faults),
    )


def read_run(run: RunFolder) -> RunView:
    """Everything of a run. InputError when state.json itself cannot be read."""
    state = run.state()
    reader = _Reader()
    env = reader.record(run.paths.env, Env)
    benchmark = reader.record(run.paths.benchmark_data, Bench)
    return RunView(
        state=state,
        env=env,
        versions=tuple(read_version(run, n, state) for n in run.paths.versions()),
        benchmark=benchmark,
        faults=tuple(reader.faults),
    )


def part_folders(folder: Path) -> tuple[Path, ...]:
    """Folders of branches or ablations, b2 before b10."""
    if not folder.is_dir():
        return ()
    found = (path for path in folder.iterdir() if path.is_dir())
    return tuple(sorted(found, key=lambda path: (len(path.name), path.name)))


def kernel_sha(paths: VersionLayout, suffix: str) -> str:
    """Hash of the champion's source; empty when it is not there."""
    from kbs_engine.run.files import read_bytes, sha256_of

    path = paths.kernel(suffix)
    return sha256_of(read_bytes(path)) if path.is_file() else ""


def _parts(folder: Path, reader: _Reader) -> tuple[PartView, ...]:
    return tuple(
        PartView(
            name=path.name,
            bench=reader.record(path / "bench.json", Bench),
            static=reader.record(path / "static.json", Static),
        )
        for path in part_folders(folder)
    )


def as_builtins(view: RunView) -> Any:
    """The whole view as builtins, for JSON output."""
    return msgspec.to_builtins(view)
