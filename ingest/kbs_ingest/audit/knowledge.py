"""The wiki as an audit needs it: facts by page and line, lines of text, names of chips."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from kbs_engine.errors import WikiError
from kbs_engine.facts import Basis, Spec
from kbs_ingest.audit.chipnames import ChipNames
from kbs_ingest.audit.pagewords import page_words
from kbs_ingest.audit.tables import Disagreement, PageTables, read_tables
from kbs_ingest.audit.vocabulary import dies_of
from kbs_ingest.audit.words import Topic, tokens, topic
from kbs_ingest.wiki.faults import Faults
from kbs_ingest.wiki.hardware import HardwareFront, MeasuredFront, SpecPage
from kbs_ingest.wiki.markdown import parse
from kbs_ingest.wiki.rootreader import RootReader
from kbs_ingest.wiki.source import WikiFile, name_roots, read_files

_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.+?)\s*#*\s*$")
_KIND = re.compile(
    rb"\A(?:\xef\xbb\xbf)?---\r?\n(?:[^\n]*\n){0,40}?kind:\s*(hardware|limits|measured)\b"
)
_OLDER = re.compile(
    r"(?P<docs>(?:ref-)?docs/)?hardware/(?:(?P<vendor>[\w-]+)/)?(?P<name>[\w-]+?)(?:[_-]specs?)?\.md"
)
"""``docs/hardware/h20_spec.md``: how the pages of the shipped wiki were called before."""
_SPEC_SUFFIX = re.compile(r"[_-]specs?$")


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """One value that a line states. ``reason`` says why it is not the used one."""

    line: int
    metric: str
    words: str
    value: float | str | None
    unit: str
    basis: Basis
    topic: Topic
    used: bool = True
    reason: str = ""
    measured: bool = False

    @property
    def shown(self) -> str:
        """Value and unit as the page writes them."""
        text = f"{self.value:.12g}" if isinstance(self.value, float) else str(self.value)
        return "UNKNOWN" if self.value is None else f"{text} {self.unit}".strip()


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """One file of the wiki."""

    path: str
    lines: tuple[str, ...]
    sections: tuple[tuple[str, int, int], ...]
    """Title, first and last line."""
    chips: frozenset[str] = frozenset()
    """Chips of which the page speaks; empty when it speaks of none in particular."""
    words: frozenset[str] = frozenset()
    """Words by which its chips are called beside their names: maker, architecture, memory."""
    dies: frozenset[str] = frozenset()
    """The silicon that its part is made of, which other parts may be made of too."""
    facts: tuple[Fact, ...] | None = None
    """None for a page that is no table of specs."""


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """All pages by citation path."""

    pages: dict[str, Page]
    relative: dict[str, tuple[str, ...]]
    """Path below its root to citation paths, later roots first."""
    names: dict[str, tuple[str, ...]]

    def resolve(self, path: str) -> Page | str:
        """The page that a citation means, or why there is none. Touches no file."""
        parts = path.split("/")
        if path.startswith(("/", "~")) or "\\" in path or ".." in parts or ":" in path:
            return "the path leaves the wiki"
        clean = "/".join(part for part in parts if part not in ("", "."))
        if clean in self.pages:
            return self.pages[clean]
        for candidate in (clean, clean.removeprefix("docs/"), clean.removeprefix("ref-docs/")):
            if candidate in self.pages:
                return self.pages[candidate]
            if known := self.relative.get(candidate):
                return self.pages[known[0]]
        older = _OLDER.fullmatch(clean)
        same = [page for page in self.pages.values() if older and _is_called(page, older)]
        return same[0] if len(same) == 1 else f"no file {clean} in the wiki"


def _is_called(page: Page, older: re.Match[str]) -> bool:
    """Whether an older spelling means this page of the shipped wiki."""
    at = PurePosixPath(page.path)
    if page.facts is None or at.stem != older["name"] or at.parts[0] != "hardware":
        return False
    if older["vendor"]:
        return at.parts[1:-1] == (older["vendor"],)
    return bool(older["docs"])


def load_knowledge(roots: Sequence[Path]) -> Knowledge:
    """Read the wikis from their files; WikiError lists what is refused.

    Pages of specs are read as specs; every other file only counts as lines of text.
    """
    faults = Faults()
    files = [file for root in name_roots(roots) for file in read_files(root, faults)]
    spec_pages: list[SpecPage] = []
    tables: dict[str, PageTables] = {}
    for file in files:
        if file.suffix != ".md" or not file.root.native or not _KIND.match(file.data[:4096]):
            continue
        own = RootReader(faults)
        own.read(file)
        spec_pages.extend((*own.pages.values(), *own.measured.values()))
        try:
            tables[file.path] = read_tables(parse(file.text(), file.path), file.path)
        except WikiError:  # the reader has told it
            continue
    faults.raise_if_any()
    return knowledge_of(files, spec_pages, tables)


def knowledge_of(
    files: Sequence[WikiFile], found: Sequence[SpecPage], tables: Mapping[str, PageTables]
) -> Knowledge:
    """Knowledge from what the wiki reader found.

    Each page counts by its citation path: one of an overlay does not hide another of the same id.
    """
    spec_pages = {page.citation.path: page for page in found}
    names = _names(found)
    users = _users(found)
    finder = ChipNames(names)
    called = page_words(found)
    pages: dict[str, Page] = {}
    relative: dict[str, list[str]] = {}
    for file in files:
        spec_page = spec_pages.get(file.path)
        lines = tuple(
            line.rstrip("\r") for line in file.data.decode("utf-8", "replace").split("\n")
        )
        if lines and not lines[-1]:
            lines = lines[:-1]
        sections = tuple(_sections(lines)) if file.suffix == ".md" else ()
        chips = _chips_of(file, spec_page, users, finder, sections)
        pages[file.path] = Page(
            path=file.path,
            lines=lines,
            sections=sections,
            chips=chips,
            words=frozenset().union(*(called.get(chip, ()) for chip in chips)),
            dies=dies_of(lines) if spec_page else frozenset(),
            facts=_facts(spec_page, tables.get(file.path)) if spec_page else None,
        )
        relative.setdefault(file.relative, []).insert(0, file.path)
    return Knowledge(
        pages=pages,
        relative={key: tuple(paths) for key, paths in relative.items()},
        names=names,
    )


def _names(pages: Iterable[SpecPage]) -> dict[str, tuple[str, ...]]:
    """Chip to all names that its pages give it."""
    found: dict[str, dict[str, None]] = {}
    for page in pages:
        front = page.front
        if isinstance(front, HardwareFront):
            sizes = (f"{front.id} {size}" for size in _sizes(page))
            names = (front.name, *front.aliases, *front.ambiguous, *sizes)
            found.setdefault(front.id, {}).update(dict.fromkeys(names))
    return {id_: tuple(names) for id_, names in found.items()}


def _sizes(page: SpecPage) -> list[str]:
    """Memory sizes as names carry them: ``80GB``, of GiB too."""
    return [
        f"{spec.value:.12g}GB"
        for spec in page.specs
        if spec.metric == "memory_capacity" and isinstance(spec.value, float)
    ]


def _users(pages: Iterable[SpecPage]) -> dict[str, frozenset[str]]:
    """Limits page to the chips that inherit it."""
    parents: dict[str, set[str]] = {}
    chips: set[str] = set()
    for page in pages:
        front = page.front
        if isinstance(front, MeasuredFront):
            continue
        if isinstance(front, HardwareFront):
            chips.add(front.id)
        if front.inherits is not None:
            parents.setdefault(front.id, set()).add(front.inherits)
    found: dict[str, set[str]] = {}
    for chip in chips:
        ahead = sorted(parents.get(chip, ()))
        while ahead:
            parent = ahead.pop()
            if chip not in found.setdefault(parent, set()):
                found[parent].add(chip)
                ahead.extend(sorted(parents.get(parent, ())))
    return {id_: frozenset(users) for id_, users in found.items()}


def _chips_of(
    file: WikiFile,
    page: SpecPage | None,
    users: Mapping[str, frozenset[str]],
    finder: ChipNames,
    sections: Sequence[tuple[str, int, int]],
) -> frozenset[str]:
    if page is not None:
        front = page.front
        if isinstance(front, MeasuredFront):
            return frozenset({front.chip})
        if isinstance(front, HardwareFront):
            return frozenset({front.id})
        return users.get(front.id, frozenset())
    if "hardware" not in file.relative.split("/"):
        return frozenset()
    stem = _SPEC_SUFFIX.sub("", file.stem)
    chips, _, _ = finder.find(tokens(stem))
    if not chips and sections:
        chips, _, _ = finder.find(tokens(sections[0][0]))
    return chips


def _facts(page: SpecPage, tables: PageTables | None) -> tuple[Fact, ...]:
    whole = isinstance(page.front, MeasuredFront)
    rows = [_of_spec(spec, measured=whole or spec.measured) for spec in page.specs]
    if tables:
        rows.extend(_of_disagreement(row) for row in tables.disagreements if row.metric)
    return tuple(sorted(rows, key=lambda fact: fact.line))


def _of_spec(spec: Spec, *, measured: bool) -> Fact:
    return Fact(
        line=spec.citation.line,
        metric=spec.metric,
        words=spec.words,
        value=spec.value,
        unit=spec.unit,
        basis=spec.basis,
        topic=topic(tokens(f"{spec.words} {spec.metric}")),
        measured=measured,
    )


def _of_disagreement(row: Disagreement) -> Fact:
    return Fact(
        line=row.line,
        metric=row.metric,
        words=row.words,
        value=row.value,
        unit=row.unit,
        basis=row.basis,
        topic=topic(tokens(f"{row.words} {row.metric}")),
        used=False,
        reason=row.reason,
    )


def _sections(lines: Sequence[str]) -> list[tuple[str, int, int]]:
    heads = [
        (number, len(found[1]), found[2])
        for number, line in enumerate(lines, start=1)
        if (found := _HEADING.match(line))
    ]
    sections = []
    for position, (start, level, title) in enumerate(heads):
        end = next((line - 1 for line, other, _ in heads[position + 1 :] if other <= level), None)
        sections.append((title, start, len(lines) if end is None else end))
    return sections
