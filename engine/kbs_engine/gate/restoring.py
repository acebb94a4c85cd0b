"""How a file that is gone or changed comes back: only ways that work are offered."""

from __future__ import annotations

from typing import Final

from kbs_engine.run.files import sha256_of
from kbs_engine.run.folder import RunFolder
from kbs_engine.shell import shell

BY_HAND: Final = frozenset({
    "hypothesis.txt", "plan.md", "kbs_evidence.md", "analysis.md", "stderr.txt",
})  # fmt: skip
"""Notes may be written and edited by hand; what they claim is checked by other rules."""


def restoring(run: RunFolder, name: str, sha256: str | None, *, again: bool = False) -> str:
    """The remedy for a file of a run.

    Args:
        run: the run.
        name: the file, relative to the run folder.
        sha256: the content that it should have; None where any that was committed will do.
        again: whether `kbs loop resume` writes it where it is not there.
    """
    kept = run.git.held(name)
    if kept is not None and (sha256 is None or sha256_of(kept) == sha256):
        return f"restore it (`git -C {shell(run.root)} checkout -- {shell(name)}`)"
    if sha256 is not None and _stored(run, sha256):
        blob = shell(run.blobs.path(sha256))
        place = run.root / name
        made = "" if place.parent.is_dir() else f"mkdir -p {shell(place.parent)} && "
        return f"restore it (`{made}cp {blob} {shell(place)}`)"
    if again:
        first = "remove it; " if (run.root / name).exists() else ""
        return f"{first}`kbs loop resume {shell(run.root)}` writes it again as it was"
    return "restore it from a copy of the run"


def _stored(run: RunFolder, sha256: str) -> bool:
    """Whether the blob store holds the content, whole."""
    path = run.blobs.path(sha256)
    return path.is_file() and sha256_of(path.read_bytes()) == sha256
