"""What one page says of another: ids that must exist, and rules that must compute."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from kbs_ingest.rules.check import ConditionChecker
from kbs_ingest.rules.columns import Columns
from kbs_ingest.rules.evaluate import Condition
from kbs_ingest.wiki.faults import Faults, near
from kbs_ingest.wiki.methods import MethodPage
from kbs_ingest.wiki.model import Feature, SignatureFile
from kbs_ingest.wiki.names import is_id
from kbs_ingest.wiki.shapes import YamlPart
from kbs_ingest.wiki.symptoms import SymptomPage


class GroupList(msgspec.Struct, frozen=True):
    """The groups of one root with their YAML."""

    groups: tuple[tuple[str, ...], ...]
    part: YamlPart


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that pages may refer to."""

    methods: Mapping[str, MethodPage]
    rules: Mapping[str, SymptomPage]
    features: Mapping[str, Feature]
    signatures: Mapping[str, SignatureFile]
    groups: tuple[GroupList, ...]
    columns: Columns
    lost: frozenset[tuple[str, str]] = frozenset()
    """Folder and name of files at fault: what refers to them is not to blame."""

    def without(self, folder: str) -> frozenset[str]:
        """Names of this folder that only a fault elsewhere hides."""
        return frozenset(name for place, name in self.lost if place == folder)


def crosscheck(names: Names, faults: Faults) -> None:
    """Add a fault for every reference that leads nowhere and every rule that cannot compute."""
    checker = None if names.without("metrics") else ConditionChecker(names.columns)
    for rule in names.rules.values():
        _check_rule(rule, names, checker, faults)
    avoid_ids: dict[str, str] = {}
    for page in names.methods.values():
        _check_method(page, names, faults)
        _check_avoid(page, checker, avoid_ids, faults)
    for listing in names.groups:
        for number, group in enumerate(listing.groups):
            where = listing.part.at("groups", number)
            _refer(where, "group", group, names, "method", faults)
    for name, signature in names.signatures.items():
        where = f"{signature.citation.path}:{signature.citation.line}"
        _refer(where, "method", (name,), names, "method", faults)


_FOLDERS = {
    "symptom": "symptoms",
    "method": "methods",
    "signature": "signatures",
    "feature": "isa",
}


def _known(names: Names, kind: str) -> Collection[str]:
    known: dict[str, Collection[str]] = {
        "symptom": names.rules,
        "method": names.methods,
        "signature": names.signatures,
        "feature": names.features,
    }
    return known[kind]


def _refer(
    where: str, field: str, used: Collection[str], names: Names, kind: str, faults: Faults
) -> None:
    known, hidden = _known(names, kind), names.without(_FOLDERS[kind])
    if kind == "feature" and hidden:  # one file holds them all
        return
    for name in used:
        if name not in known and name not in hidden:
            faults.add(
                where,
                f"{field} names the {kind} {name!r}, which no page defines",
                near(name, known) or f"add the {kind}, or take it out",
            )


def _check_rule(
    page: SymptomPage, names: Names, checker: ConditionChecker | None, faults: Faults
) -> None:
    rule, part = page.rule, page.part
    for number, other in enumerate(rule.explains):
        where = part.at("explains", number)
        if other == rule.id:
            faults.add(where, "explains names the symptom itself", "take it out")
        _refer(where, "explains", (other,), names, "symptom", faults)
    if checker is None:
        return
    for field, message in checker.faults(Condition.of_rule(rule)):
        faults.add(part.at(field), f"{field}: {message}", "see docs/wiki-format.md, Symptom rules")
    for message in checker.message_faults(rule.message, (*rule.needs, *rule.optional)):
        faults.add(part.at("message"), message, "use columns of needs and optional alone")


def _check_method(page: MethodPage, names: Names, faults: Faults) -> None:
    method, front = page.method, page.front
    for symptom in method.addresses:
        where = front.at("addresses", symptom)
        _refer(where, "addresses", (symptom,), names, "symptom", faults)
    for field in ("conflicts", "complements"):
        for number, other in enumerate(getattr(method, field)):
            where = front.at(field, number)
            if other == method.id:
                faults.add(where, f"{field} names the method itself", "take it out")
            _refer(where, field, (other,), names, "method", faults)
    for number, feature in enumerate(method.requires):
        where = front.at("requires", number)
        _refer(where, "requires", (feature,), names, "feature", faults)
    for metric in () if names.without("metrics") else method.moves:
        if not names.columns.is_metric(metric):
            faults.add(
                front.at("moves", metric),
                f"moves names the metric {metric!r}, which metrics/ does not define",
                near(metric, names.columns.metrics) or "use a canonical metric",
            )
    if method.signature is not None:
        stem = method.signature.removesuffix(".yaml")
        _refer(front.at("signature"), "signature", (stem,), names, "signature", faults)


def _check_avoid(
    page: MethodPage, checker: ConditionChecker | None, taken: dict[str, str], faults: Faults
) -> None:
    for number, avoid in enumerate(page.method.avoid_when):
        where = page.front.at("avoid_when", number, "id")
        if not is_id(avoid.id):
            faults.add(where, f"{avoid.id!r} is no id", "use snake_case")
        if taken.setdefault(avoid.id, where) != where:
            faults.add(
                where, f"the anti-strategy {avoid.id} stands at {taken[avoid.id]} too", "rename one"
            )
        if checker is None:
            continue
        for field, message in checker.faults(Condition.of_avoid(avoid)):
            faults.add(
                page.front.at("avoid_when", number, field),
                f"{avoid.id}, {field}: {message}",
                "see docs/wiki-format.md, Method pages",
            )
