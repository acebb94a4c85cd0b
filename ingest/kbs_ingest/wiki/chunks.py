"""Pages cut into the pieces that search returns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kbs_engine.facts import Spec
from kbs_engine.symptoms import SymptomRule
from kbs_engine.templates import Template
from kbs_ingest.wiki.lists import flat_text
from kbs_ingest.wiki.markdown import Document, Section
from kbs_ingest.wiki.methods import LANGUAGE_HEADINGS
from kbs_ingest.wiki.model import Case, Chunk

MAX_CHARS = 2400
"""A longer section is cut at paragraph ends, so that a hit points near its lines."""
_CODE_KIND = {".cu": "cuda-cpp", ".cuh": "cuda-cpp", ".hip": "hip"}
_CODE_HINTS = (
    ("cutlass.cute", "cute-dsl"),
    ("import triton", "triton"),
    ("flydsl", "flydsl"),
    ("cutlass/", "cutlass"),
)
_ARCH = re.compile(r"\b(sm_\d{2,3}[af]?|gfx\d{3,4}[a-z]?)\b")


def page_chunks(
    page: Document,
    path: str,
    kind: str,
    *,
    owner: str = "",
    axis: str = "",
    languages: Sequence[str] = (),
    archs: Sequence[str] = (),
) -> Iterator[Chunk]:
    """Every section of a page; code headings narrow the languages to their own."""
    top = next((part.title for part in page.sections if part.level == 1), path)
    for section in page.sections:
        own = LANGUAGE_HEADINGS.get(section.title) if "How" in section.heading else None
        for line, text in _pieces(section):
            heading = section.heading or (top,)
            named = set(_ARCH.findall(" ".join(heading)))
            yield Chunk(
                kind=kind,
                owner=owner,
                path=path,
                line=line,
                title=top,
                heading=heading,
                text=text,
                axis=axis,
                languages=(own,) if own else tuple(languages),
                archs=tuple(archs) or tuple(sorted(named)),
            )


def _pieces(section: Section) -> Iterator[tuple[int, str]]:
    """Line and text of each piece; the first carries the heading's own line."""
    if len(section.text) <= MAX_CHARS:
        if section.text.strip():
            yield section.line, section.text.strip()
        return
    start = size = 0
    held: list[str] = []
    first = True
    for number, text in enumerate(section.text.split("\n"), start=section.body_line):
        if held and (size > MAX_CHARS or (size > MAX_CHARS * 0.7 and not text.strip())):
            yield (section.line if first else start), "\n".join(held).strip()
            held, size, first = [], 0, False
        if not held:
            if not text.strip():
                continue
            start = number
        held.append(text)
        size += len(text) + 1
    if held:
        yield (section.line if first else start), "\n".join(held).strip()


def symptom_chunk(rule: SymptomRule) -> Chunk:
    """A symptom rule as text."""
    parts = [
        rule.title,
        rule.message,
        rule.notes,
        f"when: {rule.when}",
        f"needs: {', '.join(rule.needs)}",
        *(source.title for source in rule.sources),
    ]
    return Chunk(
        kind="symptom",
        owner=rule.id,
        path=rule.citation.path,
        line=rule.citation.line,
        title=rule.title,
        heading=(rule.title,),
        text="\n".join(part for part in parts if part),
        axis=rule.axis,
    )


def spec_chunk(spec: Spec, chip_name: str, arch: str) -> Chunk:
    """One row of a spec table, so that search answers with the line that states the value."""
    shown = f"{spec.value:.12g}" if isinstance(spec.value, float) else str(spec.value)
    parts = (f"{shown} {spec.unit}".strip(), str(spec.basis), spec.source)
    words = spec.words or spec.metric.replace("_", " ")
    return Chunk(
        kind="spec",
        owner=spec.chip,
        path=spec.citation.path,
        line=spec.citation.line,
        title=chip_name,
        heading=(chip_name, words),
        text=f"{spec.metric}: {'; '.join(part for part in parts if part)}",
        archs=(arch,) if arch else (),
    )


def case_chunk(case: Case) -> Chunk:
    """A published case as text."""
    language = case.raw.get("language", case.raw.get("backend"))
    return Chunk(
        kind="case",
        owner=case.id,
        path=case.citation.path,
        line=case.citation.line,
        title=case.title,
        heading=(case.title,),
        text=flat_text(case.raw),
        languages=(language,) if isinstance(language, str) else (),
    )


def code_chunk(text: str, path: str) -> Chunk:
    """An example source file."""
    suffix = path[path.rfind(".") :]
    language = _CODE_KIND.get(suffix) or next(
        (name for hint, name in _CODE_HINTS if hint in text), ""
    )
    return Chunk(
        kind="example",
        owner="",
        path=path,
        line=1,
        title=path.rsplit("/", 1)[-1],
        heading=(path,),
        text=text[: 2 * MAX_CHARS],
        languages=(language,) if language else (),
        archs=tuple(sorted(set(_ARCH.findall(text)))),
    )


def template_chunk(template: Template, text: str) -> Chunk:
    """The sheet of a template, as one piece."""
    return Chunk(
        kind="example",
        owner=template.id,
        path=template.citation.path,
        line=1,
        title=template.title,
        text=text,
        languages=(template.language,),
    )
