"""Message templates of rules: ``{p.dram_pct:.0f}`` filled from the rows."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from kbs_engine.ports import Rows
from kbs_engine.units import human_bytes, human_ns, human_rate

HUMAN_SPECS: Final[dict[str, Callable[[float], str]]] = {
    "bytes": human_bytes,
    "time": human_ns,
    "hz": lambda value: human_rate(value, "Hz"),
}
"""Format specs of our own: ``{p.dram_read_bytes:bytes}`` reads ``200.2 MB``."""


class _RowFormatter(string.Formatter):
    """Looks up whole dotted names in a flat mapping: no attributes, no indexing."""

    def get_field(
        self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, str]:
        del args
        return kwargs.get(field_name), field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        if value is None:
            return "n/a"
        human = HUMAN_SPECS.get(format_spec)
        return human(float(value)) if human else str(super().format_field(value, format_spec))


def template_fields(template: str) -> frozenset[str]:
    """The dotted column names that a template reads."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(template) if name)


def flatten(rows: Rows) -> dict[str, float | str | None]:
    """All values of the four rows under their dotted names."""
    flat: dict[str, float | str | None] = {}
    for prefix, row in (("p", rows.p), ("c", rows.c), ("w", rows.w), ("h", rows.h)):
        flat.update({f"{prefix}.{name}": value for name, value in row.items()})
    return flat


def fill(template: str, rows: Rows) -> str:
    """The message with its values; an absent value reads ``n/a``."""
    return _RowFormatter().vformat(template, (), flatten(rows))
