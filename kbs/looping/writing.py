"""Notes of the machine carried out on the run folder; doing one twice changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from kbs_engine.durable import write_whole
from kbs_engine.gate.rules.order import BEFORE
from kbs_engine.loop import actions
from kbs_engine.reports import (
    analysis,
    baseline_report,
    env_check,
    standalone_test,
    workspace_readme,
)
from kbs_engine.run import RunFolder
from kbs_engine.run.files import as_json, sha256_of
from kbs_engine.run.measured import Env
from kbs_engine.run.memories import Memory
from kbs_engine.run.memory_record import MemoryRecord
from kbs_engine.run.report_files import report_texts
from kbs_engine.run.view import read_run


class Writer:
    """Writes what notes ask for."""

    def __init__(self, run: RunFolder) -> None:
        """The run is open for writing."""
        self.run = run

    def __call__(self, note: actions.Note) -> None:
        """Carry out one note; those that are only shown are none of its business."""
        handlers: dict[type[actions.Note], Callable[[Any], None]] = {
            actions.PutFile: lambda one: self._text(one.path, one.text),
            actions.PutBlob: lambda one: self._bytes(one.path, self.run.blobs.get(one.sha256)),
            actions.SaveState: lambda one: self.run.save_state(one.state),
            actions.CloseVersion: lambda one: self._close(one.version),
            actions.NoteCommit: self._commit,
            actions.RecordEpoch: self._epoch,
            actions.MakeFront: self._front,
            actions.MakeAnalysis: self._analysis,
            actions.MakeReports: lambda _: self._reports(),
        }
        handler = handlers.get(type(note))
        if handler is not None:
            handler(note)

    def _commit(self, note: actions.NoteCommit) -> None:
        memory = Memory(self.run.paths.memory)
        memory.update(note.version, {"git_commit_hash": note.commit})

    def _analysis(self, note: actions.MakeAnalysis) -> None:
        view = read_run(self.run)
        version = view.version(note.version)
        if version is not None:
            text = analysis(version, view.version(note.base))
            self._text(f"v{note.version}/analysis.md", text)

    def _text(self, path: str, text: str) -> None:
        if path.startswith("memory/") and (self.run.root / path).exists():
            text = self._masked_as_before(text)
        self._bytes(path, text.encode())

    def _bytes(self, path: str, data: bytes) -> None:
        """Write a file whole, unless it stands as recorded already, after all it rests on."""
        place = self.run.root / path
        sha256 = sha256_of(data)
        recorded = self.run.journal.artifacts().get(path) == sha256
        stands = place.is_file() and sha256_of(place.read_bytes()) == sha256
        if recorded and stands and not self._outdated(path):
            return
        self.run.write_text(place, data)

    def _outdated(self, path: str) -> bool:
        """Whether something that the file rests on was written after it."""
        folder, _, name = path.rpartition("/")
        under = [f"{folder}/{first}" for first, then in BEFORE if then == name]
        if not under:
            return False
        written = {row.data["path"]: row.seq for row in self.run.journal.of_kind("artifact")}
        return any(written.get(one, -1) > written[path] for one in under)

    def _masked_as_before(self, text: str) -> str:
        """A record that a person masked stays masked when a resumed run writes it again."""
        record = msgspec.json.decode(text, type=MemoryRecord)
        old = Memory(self.run.paths.memory).load(record.version)
        if old.masked == record.masked:
            return text
        return as_json(msgspec.structs.replace(record, masked=old.masked)).decode()

    def _close(self, number: int) -> None:
        """Remove an empty version folder and name the one before it current again."""
        folder = self.run.version(number).root
        if self.run.current() != number or (folder.exists() and any(folder.iterdir())):
            return
        write_whole(self.run.paths.current, f"v{number - 1}\n")
        if folder.exists():
            folder.rmdir()

    def _epoch(self, note: actions.RecordEpoch) -> None:
        for event in self.run.journal.of_kind("epoch"):
            if event.data["number"] == note.number:
                return
        self.run.journal.append("epoch", number=note.number, settings=note.settings)

    def _front(self, note: actions.MakeFront) -> None:
        run = self.run
        state, env = run.state(), run.read(run.paths.env, Env)
        told = note.described
        view = read_run(run)
        v0 = view.version(0)
        checked = v0.bench.checked() if v0 is not None and v0.bench is not None else None
        self._text("README.md", workspace_readme(
            state, specs=told.specs, roofline=told.roofline, work=note.work, target=told.target,
            notes=told.notes,
        ))  # fmt: skip
        self._text("env_check.md", env_check(env))
        self._text("test_kernel.py", standalone_test(state.settings, checked))
        if note.baseline:
            text = baseline_report(view)
            if text is not None:
                self._text("baseline_report.md", text)

    def _reports(self) -> None:
        from kbs.render.run_html import run_page

        view = read_run(self.run)
        for name, text in report_texts(self.run, view).items():
            self._text(name, text)
        self._text("report.html", run_page(view))
