"""Units as people write them: a regular expression of the spellings, and what each one means."""

from __future__ import annotations

import re

from kbs_engine.units import QUANTITY

_WORD = r"(?:kilo|mega|giga|tera|peta|kibi|mebi|gibi|tebi)"
_SECOND = r"(?:/\s?(?:s(?:ec(?:ond)?)?|ms|[uµμ]s|ns)|\s?per\s(?:second|millisecond)|ps)"
_OPS = r"(?:FL|fl|Fl)?(?:OP|[Oo]p)[Ss]?"
_SLASH_S = r"/s(?:ec(?:ond)?)?"
UNIT = (
    rf"(?:[KkMGTP]i?B(?:{_SECOND})?|[KkMGTP]i?b(?:it)?s?{_SECOND}|[KkMGTP]i?bits?"
    rf"|{_WORD}(?:bytes?|bits?)(?:{_SECOND})?"
    r"|B(?:ytes?)?/s(?:ec(?:ond)?)?|bytes?/s(?:ec(?:ond)?)?"
    r"|B/clk(?:/\w+)?|(?:FL)?OP[Ss]?/(?:clk|clock|cycle)/(?:unit|SM|CU)"
    rf"|[GTP](?:{_OPS})(?:{_SLASH_S})?|[gtp]flops?(?:{_SLASH_S})?"
    rf"|{_WORD}-?(?:{_OPS})(?:{_SLASH_S})?"
    r"|(?:FL)?OPS|FLOPs?/s|[KkMG]?Hz|(?:[Kk]ilo|[Mm]ega|[Gg]iga)hertz|[nuµμm]s"
    r"|[km]?[Ww]atts?|[kmM]?W|kilowatts?|bytes?|B)"
)
"""Longer spellings stand before those that begin them."""
_PREFIX = re.compile(
    r"kilo|mega|giga|tera|peta|kibi|mebi|gibi|tebi|[KkMGTPgtpm](?=i?[Bb]|[FfOo]|Hz|W|watt)",
)
_STEPS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_TIMES = {"ms": 1e3, "us": 1e6, "ns": 1e9, "millisecond": 1e3}
_CLOCK = re.compile(r"(?P<what>(?:FL)?OPS?|B)/(?:clk|clock|cycle)(?P<per>/\w+)?", re.IGNORECASE)
_SHOWN = {
    "bytes": "B", "bytes_per_s": "B/s", "flops": "FLOPS", "ops": "OPS", "hz": "Hz", "watt": "W",
}  # fmt: skip


def read_unit(text: str) -> tuple[float, str]:
    """Factor and unit of ``SPEC_UNITS``: ``Tb/s`` is (125.0, "GB/s"), ``kW`` (1000.0, "W")."""
    text = text.replace("μ", "µ")
    if not text or text in QUANTITY:
        return 1.0, text
    if found := _CLOCK.fullmatch(text):
        what = found["what"].upper().removesuffix("S")
        return 1.0, "B/clk" if what == "B" and not found["per"] else f"{what}/clk/unit"
    prefix = _PREFIX.match(text)
    rest = text[prefix.end() :] if prefix else text
    letter, binary = _prefix(prefix[0] if prefix else "", rest)
    kind = _kind(rest)
    if kind == "watt":
        return {"": 1.0, "k": 1e3, "K": 1e3, "m": 1e-3, "M": 1e6}.get(letter, 1.0), "W"
    if rest in ("s", "µs"):
        return 1.0, text
    return _rated(rest, letter, kind, binary=binary)


def _prefix(prefix: str, rest: str) -> tuple[str, bool]:
    """The letter of a prefix, and whether it is a binary one."""
    word = prefix.casefold()
    binary = (rest.startswith("i") and not rest.startswith("it")) or word.endswith("bi")
    letter = prefix[:1] if len(prefix) == 1 and prefix in "mk" else word[:1].upper()
    return letter, binary


def _kind(rest: str) -> str:
    low = rest.casefold()
    if "op" in low:
        return "flops" if "fl" in low else "ops"
    if low.startswith("h"):
        return "hz"
    return "watt" if low.startswith("w") else "bytes"


def _rated(rest: str, letter: str, kind: str, *, binary: bool) -> tuple[float, str]:
    """Bytes, bits, operations and hertz, with their prefix and time."""
    body = rest.removeprefix("i") if binary else rest
    factor = 1.0
    if kind == "bytes":
        head = re.split(r"/|\s?per\s|(?<=[Bb])ps|(?<=t)ps", body, maxsplit=1)
        if head[0].startswith("b") and not head[0].startswith("byte"):
            factor = 0.125
        if len(head) > 1 or body.endswith("ps"):
            kind = "bytes_per_s"
            factor *= _TIMES.get(head[-1].strip().replace("µ", "u"), 1.0)
    step = _STEPS.get(letter.casefold(), 0)
    unit = f"{letter.upper() if step else ''}{'i' if binary else ''}{_SHOWN[kind]}"
    if unit in QUANTITY:
        return factor, unit
    return factor * (1024.0 if binary else 1000.0) ** step, _SHOWN[kind]
