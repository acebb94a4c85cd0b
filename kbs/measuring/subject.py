"""From files to what a job names: the kernel's source and the task, both in the blob store."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kbs.measuring.options import TaskOptions
from kbs_engine.blobs import BlobStore
from kbs_engine.errors import InputError, KbsError
from kbs_engine.inputs import read_regular
from kbs_engine.jobs import SourceRef, Task

_OWN_INPUTS = re.compile(r"^\s*(def\s+(setup|get_inputs)\s*\(|setup\s*=)", re.MULTILINE)


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel and its task."""

    source: SourceRef
    task: Task
    notes: tuple[str, ...] = ()


def read_subject(kernel: Path, options: TaskOptions, blobs: BlobStore) -> Subject:
    """Read kernel and reference.

    Raises:
        InputError: A file that is no text, or whose language nothing tells.
    """
    source = read_source(kernel, options.language, blobs)
    reference = read_text(options.reference)
    setup, notes = None, []
    if options.setup is not None:
        setup = read_source(options.setup, "auto", blobs)
    elif not _OWN_INPUTS.search(reference):
        setup = source
        notes.append(
            f"{options.reference.name} has no setup(): the kernel itself says what its inputs "
            "are; give --setup BASELINE to pin them"
        )
    task = Task(
        reference_sha256=blobs.put(reference),
        dims=options.dims,
        atol=options.atol,
        rtol=options.rtol,
        outputs=options.outputs,
        ptr_size=options.ptr_size,
        permitted=options.permitted,  # type: ignore[arg-type]  # checked by the option
        setup=setup,
    )
    return Subject(source=source, task=task, notes=tuple(notes))


@contextlib.contextmanager
def told_by_name(reference: Path) -> Iterator[None]:
    """Errors about the device's copy of the reference, ``ref.py``, name the user's own file."""
    try:
        yield
    except KbsError as problem:
        problem.where = re.sub(r"^ref\.py(?=:|$)", lambda _: str(reference), problem.where)
        raise


def read_source(path: Path, language: str, blobs: BlobStore) -> SourceRef:
    """One kernel file as a source."""
    from kbs_backends.languages import detect_language

    text = read_text(path)
    chosen = detect_language(path, text) if language == "auto" else language
    return SourceRef(sha256=blobs.put(text), language=chosen, name=path.name)  # type: ignore[arg-type]


def read_text(path: Path) -> str:
    """A file as UTF-8; InputError says why not."""
    try:
        return read_regular(path).decode()
    except OSError as problem:
        raise InputError(
            f"cannot be read: {problem.strerror or problem}", where=str(path),
            remedy="name a readable file",
        ) from problem  # fmt: skip
    except UnicodeDecodeError as problem:
        raise InputError(
            "is no text in UTF-8", where=str(path), remedy="name a source file"
        ) from problem
