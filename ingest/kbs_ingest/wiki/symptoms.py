"""Symptom rules: one YAML file each."""

from __future__ import annotations

import msgspec

from kbs_engine.errors import WikiError
from kbs_engine.facts import Citation
from kbs_engine.symptoms import Source, SymptomRule
from kbs_engine.vocabulary import Axis
from kbs_ingest.wiki.faults import Faults
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
    if not rule.sources and not rule.notes:
        faults.add(part.at(), "has neither sources nor notes", "say where the thresholds come from")
    return SymptomPage(rule=rule, part=part)
