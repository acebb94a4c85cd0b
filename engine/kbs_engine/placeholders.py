"""Values that a person gave for specs that the wiki lacks, put where a roofline looks for specs.

They are marked wherever they are shown and never called specs; what refuses a kernel (the
physics floor) rests on cited peaks alone and never sees them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

import msgspec

from kbs_engine.facts import Basis, Chip, Citation, Spec

GIVEN: Final = "given by the user"
NOWHERE: Final = Citation(path="placeholder", line=1)
"""A record needs a place; a placeholder is cited by its mark and never by this."""


class Given(Protocol):
    """A metric with the value that somebody stood in for it."""

    @property
    def metric(self) -> str:
        """Canonical metric."""
        ...

    @property
    def value(self) -> float:
        """In ``unit``; without one in the base unit of the metric."""
        ...

    @property
    def unit(self) -> str:
        """A unit of specs."""
        ...


def with_placeholders(chip: Chip, given: Iterable[Given]) -> Chip:
    """The chip with a marked value for every metric that its page lacks; cited ones stay."""
    added = tuple(
        Spec(
            chip=chip.id,
            metric=row.metric,
            words=row.metric,
            value=row.value,
            unit=row.unit,
            basis=Basis(density="dense" if row.metric.startswith("peak_") else None),
            source=GIVEN,
            citation=NOWHERE,
            placeholder=True,
        )
        for row in given
        if chip.find_device(row.metric) is None
    )
    return msgspec.structs.replace(chip, specs=(*chip.specs, *added)) if added else chip


def unknown_chip(name: str, arch: str) -> Chip:
    """A chip of which the wiki knows nothing, to be filled with placeholders."""
    return Chip(
        id=name,
        name=name,
        vendor="amd" if arch.startswith("gfx") else "nvidia",
        architecture="",
        arch=arch,
        citation=NOWHERE,
    )


def unused(chip: Chip, given: Iterable[Given]) -> tuple[str, ...]:
    """Metrics that were given although the chip's page cites them."""
    return tuple(row.metric for row in given if chip.find_device(row.metric) is not None)
