"""Measured files stand as they were written: their hashes are in the journal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.run.files import read_bytes, sha256_of

BY_HAND = frozenset({"hypothesis.txt", "plan.md", "kbs_evidence.md", "analysis.md", "stderr.txt"})
"""Notes may be written and edited by hand; what they claim is checked by other rules."""


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
                f"restore it (`git checkout -- {path.name}`), or measure the version again",
            )


def _measured(context: GateContext) -> Iterator[Path]:
    if context.number == 0:
        yield from (p for p in (context.run.paths.reference, context.run.paths.env) if p.is_file())
    for path in sorted(context.paths.root.rglob("*")):
        hidden = any(part.startswith((".", "__")) for part in path.parts[-3:])
        if path.is_file() and path.name not in BY_HAND and not hidden:
            yield path


RULE = Rule(
    id="unedited",
    title="Measured files as written",
    refuses="A kernel, a JSON file, correctness.md, an ncu file or ref.py whose content is not the "
    "one whose hash stands in the journal.",
    check=check,
    every=True,
)
