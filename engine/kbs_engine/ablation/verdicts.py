"""The verdict on a method: opcodes × attribution × correctness, every cell defined."""

from __future__ import annotations

from typing import Final, Literal

from kbs_engine.ablation.records import Attribution, Effect, MethodEffect
from kbs_engine.errors import InputError
from kbs_engine.timing.comparison import Comparison
from kbs_engine.vocabulary import Verdict

Opcodes = Literal["confirmed", "refuted", "not_observable"]

_BY_EFFECT: Final[dict[Effect, Verdict]] = {
    "helps": "effective",
    "within noise": "ineffective",
    "harms": "harmful",
    "inseparable": "inseparable",
    "not measured": "inseparable",
}

VERDICTS: Final[dict[tuple[Opcodes, Effect, bool], Verdict]] = {
    (opcodes, effect, correct): (
        "implementation_failed" if not correct or opcodes == "refuted" else verdict_of_effect
    )
    for opcodes in ("confirmed", "refuted", "not_observable")
    for effect, verdict_of_effect in _BY_EFFECT.items()
    for correct in (True, False)
}
"""(opcodes, effect, version correct) -> verdict.

A wrong kernel, or one whose machine code lacks the method, says nothing about the method: the
implementation failed, whatever the clock said. A gain without the opcodes belongs to something
else. A variant that has no time without the method cannot be told apart from the rest.
"""

REACH: Final = 2
"""How many noise thresholds a gain must amount to before it is of note."""

BECAUSE: Final[dict[Verdict, str]] = {
    "effective": "the interval without the method lies wholly beyond the noise threshold",
    "ineffective": "no effect beyond the noise threshold was shown",
    "harmful": "the kernel is faster without it",
    "implementation_failed": "the machine code does not show the method, or the result is wrong",
    "inseparable": "its effect cannot be told apart from that of other methods",
}


def verdict(opcode: str, attribution: MethodEffect | Effect, *, correct: bool = True) -> Verdict:
    """The verdict on one method.

    Args:
        opcode: ``confirmed``, ``refuted`` or ``not_observable`` (``not observable`` is read too).
        attribution: Its effect (``Attribution.of(method)``), or the effect's word alone.
        correct: Whether the version with the method passed its check.

    Raises:
        InputError: A word that the table does not know.
    """
    effect = attribution.effect if isinstance(attribution, MethodEffect) else attribution
    key = (opcode.replace(" ", "_"), effect, correct)
    for cell, answer in VERDICTS.items():
        if cell == key:
            return answer
    raise InputError(f"no verdict for opcodes {opcode!r} and effect {effect!r}")


def explain_verdict(answer: Verdict, effect: MethodEffect, opcode: str) -> str:
    """One sentence: why this verdict."""
    if answer == "implementation_failed" and opcode == "refuted":
        gain = "; what it gained belongs to something else" if effect.effect == "helps" else ""
        return f"the machine code does not show the method{gain}"
    detail = f" ({effect.detail})" if effect.detail else ""
    if answer == "ineffective" and effect.speedup is not None:
        return f"{_not_shown(effect.speedup, effect.p_holm)}{detail}"
    return f"{BECAUSE[answer]}{detail}"


def _not_shown(found: Comparison, p_holm: float | None) -> str:
    """What is known of an effect that did not come out beyond the noise."""
    noise = f"the noise threshold of {100 * found.noise:g} %"
    gains = [100 * (1.0 - 1.0 / ratio) for ratio in (found.ratio, found.low, found.high)]
    told = f"{gains[0]:.1f} % [{gains[1]:.1f}, {gains[2]:.1f}] of the time"
    if found.low >= 1.0 / (1.0 + found.noise) and found.high <= 1.0 + found.noise:
        return f"its effect lies within {noise}: it returns {told}"
    p = "" if p_holm is None else f", p {p_holm:.2g} after Holm's correction"
    smallest = 100 * (1.0 - 1.0 / (1.0 + found.smallest_detectable))
    return (
        f"no effect beyond {noise} was shown: it returns {told}{p}; the smallest gain that would "
        f"have shown is {smallest:.1f} %"
    )


def left_open(answer: Verdict, gain_high: float | None, noise: float) -> bool:
    """Whether an ``ineffective`` leaves open that the method helps, by a gain of note.

    Its interval then reaches beyond ``REACH`` noise thresholds: the timing was too coarse to
    tell, and to have seen nothing is no measurement of nothing.

    Args:
        answer: the verdict.
        gain_high: upper end of the interval of the share of time (below 1) that it returns.
        noise: the noise threshold, as a share.
    """
    if answer != "ineffective" or gain_high is None:
        return False
    return gain_high > 1.0 - (1.0 + noise) ** -REACH


def verdicts(
    attribution: Attribution, opcodes: dict[str, Opcodes], *, correct: bool = True
) -> dict[str, Verdict]:
    """Verdicts of all methods of an ablation; opcodes that nobody looked at are not observable."""
    return {
        one.method: verdict(opcodes.get(one.method, "not_observable"), one, correct=correct)
        for one in attribution.effects
    }
