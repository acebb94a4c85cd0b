"""The gate: rules that a version must keep before the next one may begin (docs/gate.md)."""

from kbs_engine.gate.check import check_evidence, check_version, parse_version, pass_version
from kbs_engine.gate.refusal import CitationFault, Inspectors, Refusal, Rule
from kbs_engine.gate.registry import RULES
from kbs_engine.gate.standing import Standing, damage, standing, unchecked

__all__ = [
    "RULES",
    "CitationFault",
    "Inspectors",
    "Refusal",
    "Rule",
    "Standing",
    "check_evidence",
    "check_version",
    "damage",
    "parse_version",
    "pass_version",
    "standing",
    "unchecked",
]
