"""Every rule of the gate, in the order in which it is asked."""

from __future__ import annotations

from typing import Final

from kbs_engine.gate.refusal import Rule
from kbs_engine.gate.rules import (
    answers,
    artifacts,
    attribution,
    changed_kernel,
    citations,
    claims,
    correctness,
    current_version,
    evidence,
    failed_version,
    fixed_settings,
    gpu_budget,
    hypothesis,
    journal_chain,
    later_version,
    numbers,
    one_change,
    opcodes,
    order,
    plan_budget,
    raw_samples,
    reports,
    retold,
    roofline_numbers,
    same_source,
    skips,
    state_numbers,
    unedited,
)

_IN_ORDER = (
    journal_chain, current_version, later_version, artifacts, unedited, order, correctness,
    raw_samples, numbers, claims, same_source, changed_kernel, fixed_settings, plan_budget, skips,
    one_change, hypothesis, evidence, citations, opcodes, attribution, roofline_numbers,
    failed_version, state_numbers, answers, retold, gpu_budget, reports,
)  # fmt: skip

RULES: Final[dict[str, Rule]] = {module.RULE.id: module.RULE for module in _IN_ORDER}
"""Rules by id; docs/gate.md tells them in the same order."""
