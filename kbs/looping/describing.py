"""The static step: cited specs of the platform, roofs of the work, targets; nothing is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kbs.looping.advising import find_chip, platform_chip
from kbs_engine.facts import Chip
from kbs_engine.loop.asks import Describe, Described
from kbs_engine.occupancy import LIMITS, cited
from kbs_engine.placeholders import unknown_chip, unused
from kbs_engine.roofline import NEAR_PEAK_CITED, NEAR_PEAK_MEASURED, build_roofline
from kbs_engine.run.records import Target
from kbs_engine.work import Work

if TYPE_CHECKING:
    from kbs_ingest.store import Store

NEEDED: Final = ("memory_bandwidth", "unit_count")
"""Specs without which no roof can be drawn at all: a run that lacks one stops and asks."""
SHOWN: Final = (*NEEDED, "l2_size", "clock_boost")


def describe(ask: Describe, store: Store | None) -> Described:
    """Chip, specs with citations, what is missing, the static roofline and the target."""
    settings, machine = ask.settings, ask.machine
    if store is None:
        return Described(
            arch=machine.arch, target=settings.target, notes=("the run uses no knowledge",)
        )
    if machine.device == "host" and not settings.platform:
        return Described(
            target=settings.target,
            notes=("measured on a host: no figure of this run is a claim about a GPU",),
        )
    name = settings.platform or machine.gpu
    known, chip = find_chip(store, name), platform_chip(store, settings, machine)
    if chip is None:
        return Described(
            arch=machine.arch,
            missing=(f"the chip {name}", *NEEDED),
            target=settings.target,
        )
    work = ask.counted.work if ask.counted else None
    line = build_roofline({}, chip=chip, work=work)
    missing = [metric for metric in NEEDED if chip.find_device(metric) is None]
    notes = list(line.flags)
    cites = unused(known, settings.placeholders) if known else ()
    notes += [f"the placeholder for {metric} is not used: the wiki cites it" for metric in cites]
    if known is None:
        notes.append(f"the wiki does not know {name}: what is said of it are placeholders")
    if settings.platform and machine.gpu and chip.id != _id(store, machine.gpu):
        notes.append(f"targets are for {chip.id}; measurements are those of {machine.gpu}")
    specs = dict.fromkeys(
        [cited(known or unknown_chip(name, machine.arch), one) for one in (*SHOWN, *LIMITS)]
        + [roof.citation for roof in line.roofs if roof.basis != "placeholder"]
    )
    return Described(
        chip=known.id if known else "",
        arch=machine.arch or chip.arch,
        limits=chip,
        specs=tuple(specs),
        missing=tuple(missing),
        roofline=line,
        target=settings.target or _target(chip, work),
        notes=tuple(notes),
    )


def _id(store: Store, name: str) -> str:
    chip = find_chip(store, name)
    return chip.id if chip else ""


def _target(chip: Chip, work: Work | None) -> Target | None:
    """Near peak as an absolute target, by the same numbers as the stop rule."""
    line = build_roofline({}, chip=chip, work=work)
    if line.model_ns is None:
        return None
    measured = line.model_measured_ns is not None
    share = NEAR_PEAK_MEASURED if measured else NEAR_PEAK_CITED
    stood_in = any(roof.basis == "placeholder" for roof in line.roofs)
    peaks = "cited peaks and placeholders" if stood_in else "cited peaks"
    basis = "measured ceilings" if measured else peaks
    return Target(
        kind="share_of_model",
        value=share,
        unit="share",
        because=f"near peak at {basis}; " + "; ".join(roof.citation for roof in line.roofs),
    )
