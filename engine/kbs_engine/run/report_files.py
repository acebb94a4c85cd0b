"""Reports as files: written anew from the records, with what people added kept."""

from __future__ import annotations

from kbs_engine.reports.analysis import version_analysis
from kbs_engine.reports.final import headline
from kbs_engine.reports.registry import RUN_REPORTS
from kbs_engine.reports.summary import drift
from kbs_engine.reports.text import NOTES, bullets, document, section
from kbs_engine.run.files import decoded
from kbs_engine.run.folder import RunFolder
from kbs_engine.run.view import RunView


def report_texts(run: RunFolder, view: RunView) -> dict[str, str]:
    """Every report whose time has come, by file name; notes below the mark are kept."""
    texts = {}
    for name, make in RUN_REPORTS.items():
        text = make(view)
        if text is not None:
            texts[name] = with_notes(text, decoded(run.root / name) or "")
    return texts


def version_texts(run: RunFolder, view: RunView) -> dict[str, str]:
    """analysis.md of every version that has or had one, where it does not say what was measured."""
    texts = {}
    for version in view.versions:
        name = run.relative(run.version(version.number).analysis)
        path = run.root / name
        old = decoded(path)
        if run.journal.artifact(name) is None and not path.is_file():
            continue  # its time has not come
        text = with_notes(version_analysis(view, version), old or "")
        if text != old:
            texts[name] = text
    return texts


def with_notes(text: str, old: str) -> str:
    """A new report with what stands below the mark in the old one."""
    _, mark, notes = old.partition(NOTES)
    if not mark or NOTES not in text or not notes.strip():
        return text
    return text.partition(NOTES)[0] + NOTES + "\n\n" + notes.strip("\n") + "\n"


def interim(view: RunView) -> str:
    """What can be said of a run before its final benchmark."""
    versions = [f"v{version.number}" for version in view.versions if version.bench]
    return document(
        f"Run {view.state.name}",
        section("So far", headline(view)),
        section("Measured versions", bullets(versions)),
        section("Bottleneck drift", drift(view)),
    )
