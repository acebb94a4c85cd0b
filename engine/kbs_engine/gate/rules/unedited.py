"""Measured files stand as they were written: their hashes are in the journal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.gate.restoring import BY_HAND
from kbs_engine.reports.registry import RUN_REPORTS
from kbs_engine.run.files import read_bytes, sha256_of

ELSEWHERE = frozenset({"README.md", *RUN_REPORTS})
"""Files of the run with rules of their own: people may add to them."""


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a measured file that the journal does not know, or knows with other content."""
    if context.broken is not None:
        return
    for path in _measured(context):
        recorded = context.artifacts.get(context.run.relative(path))
        if recorded is None:
            yield context.refuse(
                "unedited",
                path,
                "the journal does not know this file: it was put there by hand",
                "remove it, and let `kbs loop` write it",
            )
        elif sha256_of(read_bytes(path)) != recorded:
            yield context.refuse(
                "unedited",
                path,
                "was changed after it was written: its hash is not the one in the journal",
                context.restoring(context.run.relative(path), recorded),
            )
    yield from _missing(context)


def _missing(context: GateContext) -> Iterator[Refusal]:
    """What was written for this version (or, with v0, for the run) and is gone."""
    prefix = f"{context.run.relative(context.paths.root)}/"
    for name, recorded in context.artifacts.items():
        own = name.startswith(prefix)
        of_run = context.number == 0 and "/" not in name
        if (own or of_run) and not (context.run.root / name).is_file():
            by_hand = PurePosixPath(name).name in BY_HAND or name in ELSEWHERE
            yield context.refuse(
                "unedited",
                name,
                "was written in this run and is gone",
                context.restoring(name, None if by_hand else recorded),
            )


def _measured(context: GateContext) -> Iterator[Path]:
    if context.number == 0:
        names = [name for name in context.artifacts if "/" not in name and name not in ELSEWHERE]
        yield from (p for p in (context.run.root / name for name in names) if p.is_file())
    for path in sorted(context.paths.root.rglob("*")):
        hidden = any(part.startswith((".", "__")) for part in path.parts[-3:])
        if path.is_file() and path.name not in BY_HAND and not hidden:
            yield path


RULE = Rule(
    id="unedited",
    title="Measured files as written",
    refuses="A kernel, a JSON file, correctness.md, an ncu file, ref.py, test_kernel.py, "
    "env_check.md or report.html whose content is not the one whose hash stands in the journal, "
    "or a file that was written in the run and is gone.",
    check=check,
    every=True,
)
