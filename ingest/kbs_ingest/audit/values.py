"""Numbers and units as people write them, and when two are the same."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation

from kbs_engine.units import QUANTITY, to_base
from kbs_ingest.audit.model import Quantity
from kbs_ingest.audit.unitwords import UNIT, read_unit

_EXACT = 1e-9
_ROUNDING = 1e-3
_TIMES = r"\s?[×·*xX]\s?10(?:(?:\^|\*\*)\{?[+-]?\d{1,2}\}?|[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2})"
_MARK = r"[,_'’\u00a0\u202f\u2009]"
NUMBER = (
    rf"(?:\d{{1,3}}(?:{_MARK}\d{{3}})+(?![\d,])(?:\.\d+)?"
    rf"|\d{{1,3}}(?: \d{{3}})+(?:\.\d+)?(?=\s?{UNIT}(?!\w))|\d+,\d{{1,2}}(?![\d,])"
    rf"|\d+(?:\.\d+)?(?:[eE][+-]?\d{{1,3}}|{_TIMES})?)"
)
"""Digits with marks of thousands, a decimal comma, or a power of ten."""
_DECIMAL_COMMA = re.compile(r"\d+,\d{1,2}")
_VALUE = re.compile(rf"^[~≈<>≤≥±+]?\s*(?P<num>{NUMBER})\s*(?P<unit>{UNIT})?(?![\w.%])(?P<rest>.*)$")
_THOUSANDS = re.compile(rf"(?:{_MARK}| )(?=\d)")
_POWER = re.compile(r"[×·*xX]\s?10")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_MIN_DIGITS = 3
"""A value printed with fewer significant digits is no rounding that one could check."""
_WORD = re.compile(r"^[A-Za-z][\w.+-]{0,39}$")
_LEADING = re.compile(NUMBER)
_MARKUP = " \t*_`\"'()[]"


def parse_quantity(text: str) -> Quantity | None:
    """Read ``4.0 TB/s``, ``65536 registers``, ``HBM3`` or ``UNKNOWN``; None when it is neither."""
    text = text.strip(_MARKUP)
    for vague in ("approximately ", "about ", "around ", "roughly ", "circa ", "nearly "):
        if text.casefold().startswith(vague):
            text = text[len(vague) :].strip(_MARKUP)
    if found := _VALUE.match(text):
        shown = f"{found['num']} {found['unit'] or ''}".strip()
        number = float(_plain_number(found["num"]))
        factor, unit = read_unit(found["unit"] or "")
        if not math.isfinite(number * factor):
            return None
        return Quantity(number=number * factor, unit=unit, text=shown)
    first = text.split(" (", 1)[0].strip(_MARKUP)
    if _WORD.match(first):
        return Quantity(number=None, word=first, text=first)
    return None


def _plain_number(text: str) -> str:
    """``3,350``, ``3,35`` and ``3.35 × 10^12`` as Python writes them."""
    if _DECIMAL_COMMA.fullmatch(text):
        return text.replace(",", ".")
    power = _POWER.search(text)
    head, tail = (text[: power.start()], text[power.start() :]) if power else (text, "")
    text = f"{_THOUSANDS.sub('', head)}{tail}".translate(_RAISED)
    power = _POWER.search(text)
    if power is None:
        return text
    return f"{text[: power.start()].strip()}e{text[power.end() :].strip('^*{}')}"


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


def rounded(
    value: Quantity, number: float | str | None, unit: str, *, digits: int = _MIN_DIGITS
) -> bool:
    """Whether a number is the stated one, rounded to the ``digits`` or more that are printed."""
    found = _LEADING.match(value.text)
    if not isinstance(number, float) or value.number is None or found is None:
        return False
    if QUANTITY[value.unit] != QUANTITY[unit] or not unit:
        return False
    try:
        printed = Decimal(_plain_number(found[0]))
    except InvalidOperation:
        return False
    parts = printed.as_tuple()
    if not printed or not isinstance(parts.exponent, int) or len(parts.digits) < digits:
        return False
    base = to_base(value.number, value.unit)
    half = abs(base * float(Decimal(5).scaleb(parts.exponent - 1) / printed))
    return abs(base - to_base(number, unit)) <= half * (1 + _EXACT)


def alike(value: Quantity, other: Quantity) -> bool:
    """Whether two written numbers are the same in units of one kind, but for rounding."""
    if value.number is None or other.number is None:
        return False
    if QUANTITY[value.unit] != QUANTITY[other.unit]:
        return False
    return close(to_base(value.number, value.unit), to_base(other.number, other.unit), _ROUNDING)


def close(value: float, other: float, tolerance: float) -> bool:
    """Relative closeness; zero is close to zero alone."""
    return math.isclose(value, other, rel_tol=tolerance, abs_tol=0.0)
