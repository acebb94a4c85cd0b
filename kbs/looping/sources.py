"""Marks of a source and its variants, for the loop: sources by content, never by path."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kbs.measuring.subject import read_text
from kbs_engine.blobs import BlobStore
from kbs_engine.errors import InputError
from kbs_engine.jobs import SourceRef
from kbs_engine.loop.asks import MarksRead, ReadMarks, Write, Written
from kbs_engine.loop.parts import Switch, Tunable, Variant
from kbs_engine.vocabulary import Language


def read_marks(ask: ReadMarks, blobs: BlobStore) -> MarksRead:
    """Tunables and switches of a source; a mark that cannot be understood is its fault."""
    from kbs_backends import variants

    source = ask.source
    try:
        marks = variants.read_marks(blobs.text(source.sha256), source.language, where=source.name)
    except InputError as problem:
        return MarksRead(fault=str(problem))
    return MarksRead(
        tunables=tuple(
            Tunable(
                name=row.name,
                current=row.current,
                values=row.values,
                inferred=row.kind == "inferred",
            )
            for row in marks.tunables
        ),
        switches=tuple(
            Switch(method=method, name=method, on=on) for method, on in marks.methods().items()
        ),
    )


def require_marks(text: str, language: Language, where: str) -> None:
    """Refuse a user's source with a mark that cannot be meant.

    What is not of its language is for the check to tell, as compilers say it.

    Raises:
        MarkError: with file and line, and what would be right.
    """
    from kbs_backends import variants

    with contextlib.suppress(variants.UnreadableSourceError):
        variants.read_marks(text, language, where=where)


def write_variants(ask: Write, blobs: BlobStore) -> Written:
    """Every variant as a full text in the store; what cannot be written has its fault."""
    text = blobs.text(ask.source.sha256)
    rows = [_written(ask.source, text, blobs, variant) for variant in ask.variants]
    return Written(sources=tuple(row[0] for row in rows), faults=tuple(row[1] for row in rows))


def _written(
    source: SourceRef, text: str, blobs: BlobStore, variant: Variant
) -> tuple[SourceRef | None, str]:
    try:
        return put_variant(source, text, blobs, variant.tunables, variant.switches), ""
    except InputError as problem:
        return None, str(problem)


def put_variant(
    source: SourceRef,
    text: str,
    blobs: BlobStore,
    tunables: Mapping[str, Any],
    switches: Mapping[str, bool],
) -> SourceRef:
    """One variant of ``text``; InputError when its marks do not allow it."""
    from kbs_backends import variants

    written = variants.write_variant(text, source.language, tunables, switches, where=source.name)
    return described(source, written, blobs)


def described(like: SourceRef, text: str, blobs: BlobStore) -> SourceRef:
    """A text in the store as a source, with what its marks say of tunables and switches.

    Marks that cannot be read are left out: the source may be somebody's and run all the same.
    """
    from kbs_backends import variants

    try:
        marks = variants.read_marks(text, like.language, where=like.name)
        tunables, switches = marks.values(), marks.methods()
    except InputError:
        tunables, switches = {}, {}
    return SourceRef(
        sha256=blobs.put(text),
        language=like.language,
        name=like.name,
        tunables=tunables,
        switches=switches,
    )


def source_switches(path: Path) -> Mapping[str, bool]:
    """Method switches of a kernel file: method id to on or off."""
    from kbs_backends.languages import detect_language
    from kbs_backends.variants import read_marks as marks_of

    text = read_text(path)
    return marks_of(text, detect_language(path, text), where=path.name).methods()
