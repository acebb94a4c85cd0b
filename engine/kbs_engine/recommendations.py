"""Ranked methods, with every part of the score."""

from __future__ import annotations

import msgspec

from kbs_engine.hints import Hint
from kbs_engine.profiles import VendorRule
from kbs_engine.roofs import Roofline
from kbs_engine.symptoms import Cause, NotMeasurable
from kbs_engine.vocabulary import MethodAxis, Status

SCHEMA_VERSION = 1


class OutcomeCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Past outcomes that speak for or against a method here."""

    helped: int = 0
    tried: int = 0
    machines: int = 0


class Recommendation(msgspec.Struct, frozen=True, kw_only=True):
    """One method: score = chance × gain × fit."""

    method: str
    title: str
    axis: MethodAxis
    score: float
    gain: float
    """Share of kernel time (0–1) that it could return: min(Δ, 1 − Π(1 − wᵢ·rᵢ))."""
    chance: float
    """Mean of the Beta posterior that it helps."""
    fit: float
    fit_parts: dict[str, float]
    predicted_gain: tuple[float, float]
    """Interval for the share of kernel time returned."""
    addresses: tuple[str, ...]
    triggers: tuple[str, ...] = ()
    """The measured values behind it, in words."""
    hint: Hint | None = None
    """What search and published cases say, where no report does."""
    outcomes: OutcomeCounts = OutcomeCounts()
    status: Status
    citations: tuple[str, ...]
    vendor_rules: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    """Near-equivalents for which this one speaks."""


class Filtered(msgspec.Struct, frozen=True, kw_only=True):
    """A method that was taken out, and what took it out."""

    method: str
    filter: str
    reason: str


class AntiStrategy(msgspec.Struct, frozen=True, kw_only=True):
    """A warning: this method does harm or nothing here."""

    method: str
    id: str
    because: str
    citation: str


class KernelDiagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be said of one launch."""

    name: str
    launch: int
    time_ns: float | None
    time_share: float | None
    chip: str | None
    limiter: str
    algorithm_bound: str
    near_peak: bool
    metrics: dict[str, float]
    causes: tuple[Cause, ...]
    effects: tuple[Cause, ...]
    not_measurable: tuple[NotMeasurable, ...]
    vendor_rules: tuple[VendorRule, ...]
    roofline: Roofline
    flags: tuple[str, ...] = ()
    language: str | None = None
    family: str | None = None


class KernelAdvice(msgspec.Struct, frozen=True, kw_only=True):
    """A diagnosis with its ranked methods."""

    diagnosis: KernelDiagnosis
    recommendations: tuple[Recommendation, ...]
    anti_strategies: tuple[AntiStrategy, ...] = ()
    filtered: tuple[Filtered, ...] = ()
    note: str = ""
    """Why the list is empty or short, when it is."""
