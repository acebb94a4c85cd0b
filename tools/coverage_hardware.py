"""Tables of chips: specs, holes, missing peaks."""

from __future__ import annotations

from kbs_engine.facts import Chip, Spec
from kbs_ingest.wiki.model import ChipPage, Wiki
from tools.markdown_table import code, table

NO_UNIT = "no such unit"
_VENDORS = ("nvidia", "amd")


def chips_in_order(wiki: Wiki) -> list[ChipPage]:
    """NVIDIA first, by id."""
    return sorted(
        wiki.chips.values(), key=lambda page: (_VENDORS.index(page.chip.vendor), page.chip.id)
    )


def own_specs(chip: Chip) -> list[Spec]:
    """Rows of the chip's own page, without limits and measured ceilings."""
    return [spec for spec in chip.specs if spec.citation.path == chip.citation.path]


def open_rows(chip: Chip) -> int:
    """Count rows that say UNKNOWN although the part has the unit."""
    return sum(_is_open(spec) for spec in own_specs(chip))


def _is_open(spec: Spec) -> bool:
    return spec.value is None and NO_UNIT not in spec.basis.remarks


def missing_peaks(chip: Chip) -> list[str]:
    """Peaks that the page asks for and cannot state as dense and per chip."""
    asked = dict.fromkeys(
        spec.metric for spec in chip.specs if spec.metric.startswith("peak_") and _is_open(spec)
    )
    return [metric for metric in asked if chip.find(metric) is None]


def hardware_table(wiki: Wiki) -> str:
    """Chip, target, numbers of specs, holes, and the dense peaks that nobody stated."""
    rows = []
    for page in chips_in_order(wiki):
        chip = page.chip
        own = own_specs(chip)
        stated = sum(spec.value is not None for spec in own)
        inherited = sum(
            spec.value is not None and spec not in own and not spec.measured for spec in chip.specs
        )
        peaks = code(metric.removeprefix("peak_") for metric in missing_peaks(chip))
        link = f"[`{chip.id}`](../gpu-wiki/{chip.citation.path})"
        rows.append((link, f"`{chip.arch}`", stated, inherited, open_rows(chip), peaks))
    return table(
        ("Chip", "Target", "Own specs", "Inherited specs", "UNKNOWN", "Dense peaks UNKNOWN"), rows
    )
