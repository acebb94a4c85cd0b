"""words.yaml: what people say when they mean a symptom or need a method."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

import msgspec

from kbs_engine.errors import WikiError
from kbs_ingest.wiki.faults import Faults, near
from kbs_ingest.wiki.model import Chunk
from kbs_ingest.wiki.shapes import YamlPart, convert

PATH: Final = "words.yaml"
LONGEST: Final = 160
"""A longer saying is a page, not something that people say."""

KINDS: Final[dict[str, str]] = {"symptoms": "symptom_words", "methods": "method_words"}
"""The kind under which search finds each part."""


class WordsFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """words.yaml: sayings by id."""

    symptoms: dict[str, tuple[str, ...]] = {}
    methods: dict[str, tuple[str, ...]] = {}


class Words(msgspec.Struct, frozen=True):
    """The sayings of one root with their YAML and place."""

    file: WordsFile
    part: YamlPart
    path: str

    def chunks(self) -> Iterator[Chunk]:
        """One piece of text for each symptom and method that has sayings."""
        for field, kind in KINDS.items():
            for name, sayings in getattr(self.file, field).items():
                title = name.replace("_", " ")
                yield Chunk(
                    kind=kind,
                    owner=name,
                    path=self.path,
                    line=self.part.line(field, name),
                    title=title,
                    heading=(title,),
                    text="\n".join(sayings),
                )


def read_words(part: YamlPart, path: str, faults: Faults) -> Words | None:
    """Read the file; faults for empty, repeated and overlong sayings."""
    try:
        found = convert(part, WordsFile)
    except WikiError as error:
        faults.add_error(error)
        return None
    for field in KINDS:
        for name, sayings in getattr(found, field).items():
            where = part.at(field, name)
            if not sayings:
                faults.add(where, f"{name} has no sayings", "add one, or take the id out")
            if len(set(sayings)) < len(sayings):
                faults.add(where, f"{name} has a saying twice", "keep one")
            for number, text in enumerate(sayings):
                if not text.strip() or len(text) > LONGEST:
                    faults.add(
                        part.at(field, name, number),
                        f"a saying of {name} has {len(text)} characters",
                        f"use 1 to {LONGEST}",
                    )
    return Words(found, part, path)


def check_words(words: Words, known: Mapping[str, Collection[str]], faults: Faults) -> None:
    """A fault for every id that no page defines; ``known`` by field."""
    for field in KINDS:
        for name in getattr(words.file, field):
            if name not in known[field]:
                faults.add(
                    words.part.at(field, name),
                    f"{field} names {name!r}, which no page defines",
                    near(name, known[field]) or f"add the page, or take {name} out",
                )
