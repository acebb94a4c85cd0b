"""Numbers and units as people write them, and when two are the same."""

from __future__ import annotations

import math
import re

from kbs_engine.units import QUANTITY, to_base
from kbs_ingest.audit.model import Quantity

_EXACT = 1e-9
_PREFIX = {"k": "K", "K": "K", "M": "M", "G": "G", "T": "T", "P": "P"}
NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?)"
UNIT = (
    r"(?:[KkMGTP]i?B(?:/s(?:ec(?:ond)?)?|ps)?"
    r"|B/clk(?:/\w+)?|(?:FL)?OPS?/(?:clk|clock|cycle)/(?:unit|SM|CU)"
    r"|[GTP](?:FL)?OPs?/s|[GTP](?:FL)?OPS|[GTP](?:fl)ops|[GTP](?:FL)OPs"
    r"|[MG]Hz|[nuµμm]s|[Ww]atts?|W|bytes?|B)"
)
_VALUE = re.compile(rf"^[~≈<>≤≥±+]?\s*(?P<num>{NUMBER})\s*(?P<unit>{UNIT})?(?![\w.%])(?P<rest>.*)$")
_WORD = re.compile(r"^[A-Za-z][\w.+-]{0,39}$")
_MARKUP = " \t*_`\"'()[]"


def parse_quantity(text: str) -> Quantity | None:
    """Read ``4.0 TB/s``, ``65536 registers``, ``HBM3`` or ``UNKNOWN``; None when it is neither."""
    text = text.strip(_MARKUP)
    for vague in ("approximately ", "about ", "around ", "roughly ", "circa ", "nearly "):
        if text.casefold().startswith(vague):
            text = text[len(vague) :].strip(_MARKUP)
    if found := _VALUE.match(text):
        shown = f"{found['num']} {found['unit'] or ''}".strip()
        number = float(found["num"].replace(",", ""))
        if not math.isfinite(number):
            return None
        return Quantity(number=number, unit=canonical_unit(found["unit"] or ""), text=shown)
    first = text.split(" (", 1)[0].strip(_MARKUP)
    if _WORD.match(first):
        return Quantity(number=None, word=first, text=first)
    return None


def canonical_unit(text: str) -> str:
    """The spelling of ``SPEC_UNITS``: ``GBps`` is ``GB/s``, ``TFLOP/s`` is ``TFLOPS``."""
    text = text.replace("μ", "µ")
    if not text or text in QUANTITY:
        return text
    low = text.casefold()
    if low.startswith(("watt", "byte")):
        return "W" if low.startswith("watt") else "B"
    if "/c" in low:
        head = text.split("/", 1)[0].upper().removesuffix("S")
        return "B/clk" if head == "B" and low.count("/") == 1 else f"{head}/clk/unit"
    prefix = _PREFIX.get(text[0], "")
    if "op" in low:
        return f"{prefix}{'FLOPS' if 'fl' in low else 'OPS'}"
    binary = "i" if text[1:2] == "i" else ""
    return f"{prefix}{binary}B{'/s' if 's' in low else ''}"


def same(value: Quantity, number: float | str | None, unit: str, *, kib: bool = False) -> bool:
    """Whether a written value is the stated one: 4000 GB/s is 4.0 TB/s, 80 GiB is not 80 GB.

    ``kib``: KB is 1024 B here, as NVIDIA prints shared memory, L1 and registers.
    """
    if isinstance(number, str):
        shown = value.word or (f"{value.number:g}" if value.number is not None else "")
        return shown.casefold() == number.casefold()
    if number is None:
        return value.is_unknown
    if value.number is None:
        return False
    written = "KiB" if kib and value.unit == "KB" and unit == "KiB" else value.unit
    if QUANTITY[written] != QUANTITY[unit]:
        return False
    return close(to_base(value.number, written), to_base(number, unit), _EXACT)


def close(value: float, other: float, tolerance: float) -> bool:
    """Relative closeness; zero is close to zero alone."""
    return math.isclose(value, other, rel_tol=tolerance, abs_tol=0.0)
