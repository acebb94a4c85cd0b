"""Method pages: front matter, fixed headings, anti-strategies."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from kbs_engine.errors import WikiError
from kbs_engine.facts import Citation
from kbs_engine.methods import AvoidWhen, Method
from kbs_engine.symptoms import Source
from kbs_engine.vocabulary import Direction, Dtype, Family, Language, MethodAxis, Status
from kbs_ingest.wiki.faults import Faults
from kbs_ingest.wiki.markdown import Document
from kbs_ingest.wiki.shapes import YamlPart, convert
from kbs_ingest.wiki.symptoms import check_sources

HEADINGS = ("When", "How", "Verify", "Pitfalls", "Sources")
LANGUAGE_HEADINGS: dict[str, str] = {
    "CUDA C++": "cuda-cpp",
    "Triton": "triton",
    "CUTLASS": "cutlass",
    "CuTe DSL": "cute-dsl",
    "HIP": "hip",
    "FlyDSL": "flydsl",
    "Other": "other",
}
MIN_PRIORITY, MAX_PRIORITY = 1, 5


class MethodFront(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Front matter of a method page."""

    kind: Literal["method"]
    id: str
    title: str
    axis: MethodAxis
    priority: int
    languages: tuple[Language, ...]
    addresses: dict[str, float]
    status: Status
    sources: tuple[Source, ...]
    requires: tuple[str, ...] = ()
    dtypes: tuple[Dtype, ...] = ()
    needs_permitted: tuple[Dtype, ...] = ()
    kernels: tuple[Family, ...] = ()
    not_kernels: tuple[Family, ...] = ()
    prerequisites: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    complements: tuple[str, ...] = ()
    tunables: tuple[dict[str, Any], ...] = ()
    moves: dict[str, Direction] = msgspec.field(default_factory=dict)
    signature: str | None = None
    measured: tuple[dict[str, Any], ...] = ()
    avoid_when: tuple[AvoidWhen, ...] = ()


class MethodPage(msgspec.Struct, frozen=True, kw_only=True):
    """A method with its front matter, for the lines of later checks."""

    method: Method
    front: YamlPart


def read_method(front: YamlPart, page: Document, path: str, faults: Faults) -> MethodPage | None:
    """Read one page; None when its front matter is broken."""
    try:
        head = convert(front, MethodFront)
        title = next((part for part in page.sections if part.level == 1), None)
        fields = {name: getattr(head, name) for name in head.__struct_fields__ if name != "kind"}
        method = Method(**fields, citation=Citation(path=path, line=title.line if title else 1))
    except WikiError as error:
        faults.add_error(error)
        return None
    except ValueError as problem:
        place = front.at(*_place(head))
        faults.add(place, str(problem), "see docs/wiki-format.md, Method pages")
        return None
    _check_page(head, front, page, path, faults)
    return MethodPage(method=method, front=front)


def _place(head: MethodFront) -> tuple[str, ...]:
    """Where that stands which the record refuses."""
    for symptom, weight in head.addresses.items():
        if not 0.0 < weight <= 1.0:
            return "addresses", symptom
    return ("status",)


def _check_page(
    head: MethodFront, front: YamlPart, page: Document, path: str, faults: Faults
) -> None:
    if not MIN_PRIORITY <= head.priority <= MAX_PRIORITY:
        faults.add(front.at("priority"), f"priority is {head.priority}", "use 1 to 5")
    check_sources(front, head.sources, faults)
    for name in ("languages", "addresses"):
        if not getattr(head, name):
            faults.add(front.at(name), f"{name} is empty", "name at least one")
    headings = [part.title for part in page.sections if part.level == 2]  # noqa: PLR2004
    if [name for name in headings if name in HEADINGS] != list(HEADINGS):
        faults.add(
            f"{path}:1",
            f"has the headings {', '.join(headings) or 'none'}",
            f"give it ## {', ## '.join(HEADINGS)}, once each, in this order",
        )
    title = next((part for part in page.sections if part.level == 1), None)
    if title is None or not _has_prose(title.text):
        faults.add(
            f"{path}:{title.line if title else 1}",
            "has no introductory paragraph under its title",
            "say in one paragraph what it is and why it pays",
        )
    _check_languages(head, page, path, faults)


def _has_prose(text: str) -> bool:
    """Whether a line of words stands outside code, lists, tables and comments."""
    outside = re.sub(r"(?ms)^(```|~~~).*?^\1|<!--.*?-->", "", text)
    lines = (line.strip() for line in outside.split("\n"))
    return any(line and line[0] not in "#|>-*" for line in lines)


def _check_languages(head: MethodFront, page: Document, path: str, faults: Faults) -> None:
    present = set()
    for part in page.sections:
        if part.level != 3 or "How" not in part.heading:  # noqa: PLR2004
            continue
        language = LANGUAGE_HEADINGS.get(part.title)
        if language:
            present.add(language)
        if language and language not in head.languages:
            faults.add(
                f"{path}:{part.line}",
                f"explains {part.title}, which languages does not list",
                f"add {language} to languages",
            )
    for language in head.languages:
        if language not in present:
            heading = next(name for name, id_ in LANGUAGE_HEADINGS.items() if id_ == language)
            faults.add(
                f"{path}:1",
                f"lists the language {language} without a heading for it",
                f"add '### {heading}' under How, or take the language out",
            )
