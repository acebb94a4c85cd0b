"""What every rule is given: the run read once, the version in question, the journal's word."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from kbs_engine.gate.refusal import Inspectors, Refusal
from kbs_engine.gate.restoring import BY_HAND, restoring
from kbs_engine.gate.told_again import Retelling, tell_again
from kbs_engine.jobs import AnyJob, Result
from kbs_engine.run.events import Break, Finished
from kbs_engine.run.files import read_bytes, sha256_of
from kbs_engine.run.folder import RunFolder
from kbs_engine.run.layout import VersionLayout
from kbs_engine.run.measured import Bench
from kbs_engine.run.settings import Settings
from kbs_engine.run.state import State
from kbs_engine.run.view import RunView, VersionView, kernel_sha, read_run
from kbs_engine.shell import shell


class GateContext:
    """One question to the gate: may this version pass?"""

    def __init__(
        self,
        run: RunFolder,
        number: int,
        *,
        final: bool = False,
        inspectors: Inspectors | None = None,
        view: RunView | None = None,
    ) -> None:
        """Read the run, unless a view of it is given."""
        self.run = run
        self.number = number
        self.final = final
        self.inspectors = inspectors or Inspectors()
        self.view = view or read_run(run)

    def at(self, number: int) -> GateContext:
        """The same question about an earlier version, on the same reading."""
        other = GateContext(
            self.run, number, final=self.final, inspectors=self.inspectors, view=self.view
        )
        for name in ("broken", "finished", "jobs", "artifacts", "passed", "retelling"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    @property
    def state(self) -> State:
        """state.json."""
        return self.view.state

    @property
    def settings(self) -> Settings:
        """The settings of the version's epoch."""
        entry = self.state.version(self.number)
        if entry is None:
            return self.state.settings
        epochs = {epoch.number: epoch.settings for epoch in self.state.epochs}
        return epochs.get(entry.epoch, self.state.settings)

    @cached_property
    def version(self) -> VersionView:
        """The version; an empty view where its folder is missing."""
        return self.view.version(self.number) or VersionView(number=self.number)

    @property
    def base(self) -> VersionView | None:
        """The version that this one was made from; None for v0."""
        methods = self.version.methods
        if methods is not None and methods.base_version is not None:
            return self.view.version(methods.base_version)
        return self.view.version(self.number - 1)

    @property
    def paths(self) -> VersionLayout:
        """The version's files."""
        return self.run.version(self.number)

    @property
    def kernel(self) -> Path:
        """The champion's source."""
        return self.paths.kernel(self.settings.kernel_suffix)

    @cached_property
    def kernel_sha256(self) -> str:
        """Hash of the champion's source as it stands; empty when it is missing."""
        return kernel_sha(self.paths, self.settings.kernel_suffix)

    @cached_property
    def broken(self) -> Break | None:
        """Where the journal's chain breaks."""
        return self.run.journal.verify()

    @cached_property
    def finished(self) -> dict[str, Finished]:
        """Finished jobs; none where the chain is broken, for then nothing is proved."""
        return {} if self.broken else self.run.journal.finished_jobs()

    @cached_property
    def jobs(self) -> dict[str, AnyJob]:
        """Every job that was started; none where the chain is broken."""
        return {} if self.broken else self.run.journal.jobs()

    @cached_property
    def artifacts(self) -> dict[str, str]:
        """Hashes of artifacts as recorded; none where the chain is broken."""
        return {} if self.broken else self.run.journal.artifacts()

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """Measured files of the version that do not stand as they were written."""
        prefix = f"{self._relative(self.paths.root)}/"
        names = (name for name in self.artifacts if name.startswith(prefix))
        return tuple(n for n in names if Path(n).name not in BY_HAND and self._differs(n))

    def _differs(self, name: str) -> bool:
        """Whether a file that the journal knows is gone or has another content."""
        path = self.run.root / name
        return not path.is_file() or sha256_of(read_bytes(path)) != self.artifacts[name]

    @property
    def resume(self) -> str:
        """The remedy for what the loop keeps of itself."""
        return f"`kbs loop resume {shell(self.run.root)}` writes it again from the journal"

    @cached_property
    def passed(self) -> frozenset[int]:
        """Versions that passed their gates."""
        events = self.run.journal.of_kind("gate_passed")
        return frozenset(event.data["version"] for event in events)

    @cached_property
    def retelling(self) -> Retelling:
        """The run told again from its journal, whose chain holds."""
        return tell_again(self.run)

    def benches(self) -> Iterator[tuple[Path, Bench]]:
        """Every bench.json of the version, the champion's first."""
        if self.version.bench is not None:
            yield self.paths.bench, self.version.bench
        for folder, parts in (
            (self.paths.branches, self.version.branches),
            (self.paths.ablations, self.version.ablations),
        ):
            for part in parts:
                if part.bench is not None:
                    yield folder / part.name / "bench.json", part.bench

    def raw(self) -> Iterator[tuple[Path, Result]]:
        """Every raw answer that stands in the version's files."""
        for path, bench in self.benches():
            for result in (*bench.blocks, *bench.checks, *bench.sanitized):
                yield path, result
        top = self.version.top
        if top is not None and top.profile is not None:
            yield self.paths.ncu_top, top.profile

    def refuse(self, rule: str, where: Path | str, message: str, remedy: str) -> Refusal:
        """A refusal, with the place named relative to the run folder."""
        return Refusal(rule=rule, where=self._relative(where), message=message, remedy=remedy)

    def refuse_measured(self, rule: str, path: Path, message: str) -> Refusal:
        """A refusal for a file that people do not write: it comes back, or nothing mends it.

        Where every file stands as the loop wrote it, it is what was measured: then the version
        is given up. v0 cannot be, for nothing stands before it.
        """
        name = self._relative(path)
        if name not in self.artifacts or self._differs(name):
            remedy = self.restoring(name, self.artifacts.get(name))
            return self.refuse(rule, path, message, remedy)
        if self.changed:  # it may be this one that is at fault
            first = self.changed[0]
            remedy = f"mend {first} first: {self.restoring(first, self.artifacts[first])}"
            return self.refuse(rule, path, message, remedy)
        return self.refuse_for_good(rule, path, message)

    def refuse_for_good(self, rule: str, path: Path, message: str) -> Refusal:
        """A refusal that no file brought back would mend: measured anew, or given up."""
        if path == self.run.paths.benchmark_data:
            name = shell(self.run.root)
            again = f"`kbs loop extend {name} -n 1`, then `kbs loop finalize {name}` measure again"
            return self.refuse(rule, path, message, again)
        if self.number == 0:
            return self.refuse(
                rule, path, message, "begin another run: v0 is what every version is held against"
            )
        if self.number in self.passed:
            told = "the kbs that let it pass judged otherwise: ask the gate of that version of kbs"
            return self.refuse(rule, path, message, told)
        return Refusal(
            rule=rule, where=self._relative(path), message=message, gives_up=self.number,
            remedy=f"nothing mends it: `kbs loop finalize {shell(self.run.root)}` gives "
            f"v{self.number} up and ends the run with what stood before",
        )  # fmt: skip

    def restoring(self, name: str, sha256: str | None = None) -> str:
        """How a file of the version comes back; before its gate the loop writes it again.

        ``sha256``: the content that it should have; None where any that was committed will do.
        """
        if name.endswith("/analysis.md"):
            return f"`kbs report {shell(self.run.root)}` writes it again"
        if name.startswith("memory/"):
            return self.resume
        retold = self.retelling.retold if self.broken is None else None
        again = retold is not None and name in retold.wrote.files and self.number not in self.passed
        return restoring(self.run, name, sha256, again=again)

    def _relative(self, where: Path | str) -> str:
        return str(where).removeprefix(f"{self.run.root}/")
