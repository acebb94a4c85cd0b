"""Advice without a report: what somebody says of a kernel stands in for a diagnosis."""

from __future__ import annotations

from typing import Final

import msgspec

from kbs_engine.diagnose import Diagnosed
from kbs_engine.errors import UsageError
from kbs_engine.facts import Citation
from kbs_engine.ports import Knowledge, Rows
from kbs_engine.recommendations import KernelDiagnosis
from kbs_engine.roofs import Roofline
from kbs_engine.symptoms import Cause, SymptomRule
from kbs_engine.vocabulary import Family, Language, Limiter
from kbs_engine.work import Work

TOLD_SHARE: Final = 0.5
"""Recoverable share assumed for a symptom that somebody names: nobody measured it."""

IMPLIED_SHARE: Final = 0.3
"""The same for a symptom that only follows from a limiter or a kernel family."""

FAMILY_SYMPTOMS: Final = 5
"""Symptoms assumed where nothing but the kernel family is known."""

SYMPTOMS_OF: Final[dict[str, tuple[str, ...]]] = {
    "dram": ("dram_bandwidth_saturated", "excess_dram_traffic"),
    "l2": ("l2_bandwidth_saturated", "low_l1_reuse"),
    "l1": ("l1_throughput_saturated", "uncoalesced_global_load"),
    "shared": ("shared_throughput_saturated", "shared_bank_conflicts"),
    "tensor": ("at_compute_roof",),
    "fma": ("fma_pipe_saturated", "tensor_cores_idle"),
    "alu": ("alu_pipe_saturated", "division_heavy"),
    "xu": ("xu_pipe_saturated",),
    "fp64": ("fp64_pipe_saturated", "unintended_fp64"),
    "lsu": ("lg_throttle_stall", "narrow_global_access"),
    "issue": ("issue_slots_saturated",),
    "latency": ("long_scoreboard_stall", "wait_stall", "low_eligible_warps"),
    "occupancy": (
        "occupancy_limited_registers",
        "occupancy_limited_shared",
        "occupancy_limited_block_size",
        "achieved_occupancy_low",
    ),
    "launch": ("launch_overhead_dominates", "many_small_kernels", "small_grid"),
}
"""What a limiter usually means when nothing else was measured."""


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody says of a kernel."""

    symptoms: tuple[str, ...] = ()
    limiter: Limiter | None = None
    family: Family | None = None
    language: Language | None = None
    chip_name: str | None = None
    work: Work | None = None


def imagine(situation: Situation, knowledge: Knowledge) -> Diagnosed:
    """A diagnosis that rests on words alone, and says so.

    Raises:
        UsageError: a symptom that no rule describes.
        RefusedError: a chip that the wiki does not know.
    """
    rules = {rule.id: rule for rule in knowledge.rules()}
    chip = knowledge.chip(situation.chip_name) if situation.chip_name else None
    causes = [_told(rules, name) for name in situation.symptoms]
    named = {cause.id for cause in causes}
    causes += [
        _implied(rules[name], f"follows from limiter {situation.limiter}")
        for name in SYMPTOMS_OF.get(situation.limiter or "", ())
        if name not in named and name in rules
    ]
    if not causes and situation.family:
        causes = _of_family(situation.family, knowledge, rules)
    return Diagnosed(
        diagnosis=KernelDiagnosis(
            name=situation.family or "(no report)",
            launch=0,
            time_ns=None,
            time_share=None,
            chip=chip.id if chip else None,
            limiter=situation.limiter or "unknown",
            algorithm_bound="unknown",
            near_peak=False,
            metrics={},
            causes=tuple(causes),
            effects=(),
            not_measurable=(),
            vendor_rules=(),
            roofline=Roofline(time_ns=None, limiter=situation.limiter or "unknown"),
            flags=("no report: shares are assumed, not measured",),
            language=situation.language,
            family=situation.family,
        ),
        rows=Rows(p={}, c={}, w={}, h={}),
        work=situation.work if situation.work and situation.work.precisions else None,
        chip=chip,
    )


def _told(rules: dict[str, SymptomRule], name: str) -> Cause:
    rule = rules.get(name)
    if rule is None:
        raise UsageError(
            f"no symptom is called {name!r}",
            remedy="`kbs query WORDS --kind symptom` finds its id",
        )
    return _cause(rule.id, rule, TOLD_SHARE, f"{rule.title} (as told)", rule.citation)


def _implied(rule: SymptomRule, why: str) -> Cause:
    return _cause(rule.id, rule, IMPLIED_SHARE, f"{rule.title} ({why})", rule.citation)


def _cause(name: str, rule: SymptomRule, share: float, message: str, citation: Citation) -> Cause:
    return Cause(
        id=name,
        axis=rule.axis,
        title=rule.title,
        severity=0.0 if rule.axis == "none" else share,
        recoverable=share,
        message=message,
        citation=citation,
    )


def _of_family(family: str, knowledge: Knowledge, rules: dict[str, SymptomRule]) -> list[Cause]:
    """What the methods written for this family cure; a method for many families says little."""
    weights: dict[str, float] = {}
    for method in knowledge.methods():
        if family in method.kernels:
            for symptom, weight in method.addresses.items():
                weights[symptom] = weights.get(symptom, 0.0) + weight / len(method.kernels)
    known = [name for name in weights if name in rules and rules[name].axis != "none"]
    known.sort(key=lambda name: (-weights[name], name))
    return [
        _implied(rules[name], f"what methods for {family} kernels mostly cure")
        for name in known[:FAMILY_SYMPTOMS]
    ]
