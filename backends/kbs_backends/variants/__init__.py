"""One source, many variants: what can be varied, and each variant as a full, readable file."""

from __future__ import annotations

from kbs_backends.variants.autotune import pin_autotune
from kbs_backends.variants.records import (
    MarkError,
    Marks,
    Switch,
    Tunable,
    UnreadableSourceError,
    Value,
)
from kbs_backends.variants.write import read_marks, write_variant

__all__ = [
    "MarkError",
    "Marks",
    "Switch",
    "Tunable",
    "UnreadableSourceError",
    "Value",
    "pin_autotune",
    "read_marks",
    "write_variant",
]
