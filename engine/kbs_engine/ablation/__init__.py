"""Which method did what: variants to time, effects with intervals, verdicts."""

from kbs_engine.ablation.attribution import attribute, factorial_group
from kbs_engine.ablation.picking import pick_arms, places_of
from kbs_engine.ablation.planning import MOST_IN_FACTORIAL, Mode, plan_variants, variant_name
from kbs_engine.ablation.records import Attribution, Effect, Interaction, MethodEffect
from kbs_engine.ablation.significance import holm, p_beyond_noise
from kbs_engine.ablation.verdicts import (
    VERDICTS,
    Opcodes,
    explain_verdict,
    left_open,
    verdict,
    verdicts,
)

__all__ = [
    "MOST_IN_FACTORIAL",
    "VERDICTS",
    "Attribution",
    "Effect",
    "Interaction",
    "MethodEffect",
    "Mode",
    "Opcodes",
    "attribute",
    "explain_verdict",
    "factorial_group",
    "holm",
    "left_open",
    "p_beyond_noise",
    "pick_arms",
    "places_of",
    "plan_variants",
    "variant_name",
    "verdict",
    "verdicts",
]
