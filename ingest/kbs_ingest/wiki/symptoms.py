"""Symptom rules: one YAML file each."""

from __future__ import annotations

import msgspec

from kbs_engine.errors import WikiError
from kbs_engine.facts import Citation
from kbs_engine.symptoms import Source, SymptomRule
from kbs_engine.vocabulary import Axis
from kbs_ingest.wiki.faults import Faults, near
from kbs_ingest.wiki.known_words import NCU_SECTIONS
from kbs_ingest.wiki.shapes import YamlPart, convert


class SymptomFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of symptoms/."""

    id: str
    axis: Axis
    title: str
    needs: tuple[str, ...]
    when: str
    severity: str | float
    recoverable: str | float
    message: str
    optional: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    notes: str = ""
    sources: tuple[Source, ...] = ()


def check_sources(part: YamlPart, sources: tuple[Source, ...], faults: Faults) -> None:
    """A page rests on at least one document, each with its title."""
    if not sources:
        faults.add(part.at("sources"), "sources is empty", "name the document and the place in it")
    for number, source in enumerate(sources):
        if not source.title.strip():
            faults.add(
                part.at("sources", number),
                "the source has no title",
                "name the document and the place in it",
            )


class SymptomPage(msgspec.Struct, frozen=True, kw_only=True):
    """A rule with its YAML, for the lines of later checks."""

    rule: SymptomRule
    part: YamlPart


def read_symptom(part: YamlPart, path: str, faults: Faults) -> SymptomPage | None:
    """Read one rule; None when its shape is broken."""
    try:
        found = convert(part, SymptomFile)
    except WikiError as error:
        faults.add_error(error)
        return None
    fields = {name: getattr(found, name) for name in found.__struct_fields__}
    for name in ("severity", "recoverable"):
        value = fields[name]
        fields[name] = value if isinstance(value, str) else f"{value:g}"
    rule = SymptomRule(**fields, citation=Citation(path=path, line=part.line("id")))
    check_sources(part, rule.sources, faults)
    for number, section in enumerate(rule.sections):
        if section not in NCU_SECTIONS:
            faults.add(
                part.at("sections", number),
                f"ncu has no section {section!r}",
                near(section, NCU_SECTIONS) or "use an identifier of ncu --list-sections",
            )
    return SymptomPage(rule=rule, part=part)
