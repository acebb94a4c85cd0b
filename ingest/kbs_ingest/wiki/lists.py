"""The small YAML files: features, groups, signatures, cases."""

from __future__ import annotations

from typing import Any

import msgspec

from kbs_engine.errors import WikiError
from kbs_engine.facts import Citation
from kbs_engine.signatures import Signature
from kbs_ingest.wiki.faults import Faults
from kbs_ingest.wiki.known_words import ARCH_FORM, arch_fault
from kbs_ingest.wiki.model import Case, Feature, SignatureFile
from kbs_ingest.wiki.names import is_id
from kbs_ingest.wiki.shapes import YamlPart, convert


class FeaturesFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """isa/features.yaml."""

    features: dict[str, Feature]


class GroupsFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """methods/groups.yaml."""

    groups: tuple[tuple[str, ...], ...]


def read_features(part: YamlPart, faults: Faults) -> dict[str, Feature]:
    """Features by id; faults for those without a source."""
    try:
        found = convert(part, FeaturesFile).features
    except WikiError as error:
        faults.add_error(error)
        return {}
    for name, feature in found.items():
        if not is_id(name):
            faults.add(part.at("features", name), f"{name!r} is no id", "use snake_case")
        if not feature.source.strip():
            faults.add(
                part.at("features", name), f"{name} has no source", "name the document and section"
            )
        for number, arch in enumerate(feature.archs):
            if problem := arch_fault(arch):
                faults.add(part.at("features", name, "archs", number), problem, ARCH_FORM)
    return found


def read_groups(part: YamlPart, faults: Faults) -> tuple[tuple[str, ...], ...]:
    """Groups of near-equivalent methods."""
    try:
        return convert(part, GroupsFile).groups
    except WikiError as error:
        faults.add_error(error)
        return ()


def read_signature(part: YamlPart, path: str, faults: Faults) -> SignatureFile | None:
    """One signature; its probes stay inside signatures/."""
    try:
        signature = convert(part, Signature)
    except WikiError as error:
        faults.add_error(error)
        return None
    for at, claim in enumerate(signature.claims):
        for number, arch in enumerate(claim.arch):
            if problem := arch_fault(arch):
                faults.add(part.at("claims", at, "arch", number), problem, ARCH_FORM)
    probes = signature.probes
    for side in ("positive", "negative"):
        names = getattr(probes, side) if probes else ()
        for name in (names,) if isinstance(names, str) else names:
            if "/" in name or "\\" in name or name.startswith("."):
                faults.add(
                    part.at("probes", side),
                    f"the probe {name!r} is not a plain file name",
                    "put it into signatures/probes/ and give its name",
                )
    citation = Citation(path=path, line=part.line("method"))
    probes_line = part.line("probes") if probes else 0
    return SignatureFile(
        signature=signature, raw=part.value, citation=citation, probes_line=probes_line
    )


def read_cases(part: YamlPart, path: str, faults: Faults) -> list[Case]:
    """Published cases: a list, ``cases: [...]``, or one case; each with an id and a title."""
    value = part.value
    at: tuple[str | int, ...] = ()
    if isinstance(value, dict) and set(value) == {"cases"}:
        value, at = value["cases"], ("cases",)
    entries = value if isinstance(value, list) else [value]
    found = []
    for number, entry in enumerate(entries):
        here = (*at, number) if isinstance(value, list) else at
        if not isinstance(entry, dict) or not is_id(entry.get("id")):
            faults.add(
                part.at(*here), "a case has no id", "give each case a snake_case id and a title"
            )
            continue
        title = entry.get("title")
        found.append(
            Case(
                id=entry["id"],
                title=title if isinstance(title, str) else entry["id"],
                raw=entry,
                citation=Citation(path=path, line=part.line(*here, "id")),
            )
        )
    return found


def flat_text(value: Any, indent: str = "") -> str:
    """YAML as searchable text, one ``key: value`` a line."""
    if isinstance(value, dict):
        return "\n".join(
            f"{indent}{key}:\n{flat_text(part, indent + '  ')}"
            if isinstance(part, dict | list)
            else f"{indent}{key}: {part}"
            for key, part in value.items()
        )
    if isinstance(value, list):
        return "\n".join(
            flat_text(part, indent) if isinstance(part, dict | list) else f"{indent}- {part}"
            for part in value
        )
    return f"{indent}{msgspec.to_builtins(value)}"
