"""What stands behind a value or multiplies it: per what, how often, a second value, a denial."""

from __future__ import annotations

import re

import msgspec

from kbs_engine.units import QUANTITY, to_base
from kbs_ingest.audit.knowledge import Fact
from kbs_ingest.audit.model import Quantity
from kbs_ingest.audit.unitwords import UNIT
from kbs_ingest.audit.values import NUMBER, alike, close, parse_quantity
from kbs_ingest.audit.words import singular, tokens

_SKIP = r"(?:[\s_`\"')\]|]|\*\*|\*(?!\s*\d))*"
_SECOND = rf"(?P<second>{NUMBER}(?:[\s|]*{UNIT}(?![\w/]))?)(?P<more>\s?[A-Za-z])?"
_MANY = r"(?:\d+|two|three|four|five|six|seven|eight|ten|sixteen|several|many|all|both|multiple)"
_PARTS = r"(?:GPUs|cards|chips|boards|devices|accelerators|nodes|servers|stacks|links|dies)"
_WRONG = (
    r"(?:wrong|false|incorrect|untrue|inaccurate|outdated|obsolete|mistaken|invalid|bogus"
    r"|not (?:true|right|correct|so|valid)|no longer(?: true| valid)?"
    r"|a (?:typo|misprint|lie|mistake)|too (?:high|low|large|small))"
)
_TIMES = re.compile(r"^(?P<twist>[×·x]|\*(?!\*))\s*\d", re.IGNORECASE)
_SUM = re.compile(rf"^(?P<twist>[+−–—/÷-]|to|or|through|until|=|\.{{2,3}}|…)\s*{_SECOND}")
_SPREAD = re.compile(r"^\(?(?P<twist>±|\+/-|\+-)")
_CORRECTED = re.compile(rf"^[,;(]?\s*(?P<twist>or rather|rather|no,|or|actually)\s+{_SECOND}")
_MORE = re.compile(
    r"^[,(]?\s*(?P<twist>\+(?!\s*\d)"
    r"|or (?:rather|more|less|so|higher|lower|better|above|below|fewer)"
    r"|and (?:more|up|above|higher)|at least|plus\b|minimum\b|not\b)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    rf"(?:\b(?:is|was|are|were|looks|seems)\s+(?:\w+\s+)?|\(\s*)(?P<twist>{_WRONG})\b",
    re.IGNORECASE,
)
_PER = re.compile(r"\b(?:per|for each|for every|in each|in every)[\s-]+(?P<what>[A-Za-z]+)")
_SLASH = re.compile(r"^[/·]\s?(?P<what>[A-Za-z]+)")
_EACH = re.compile(r"^[,(]?\s*(?:each|apiece|a piece)\b", re.IGNORECASE)
_FOR_MANY = re.compile(
    rf"\b(?:for|on|across|over|of|with|from|in)\s+(?:all\s+|the\s+)?(?P<many>{_MANY}\s+{_PARTS})\b",
    re.IGNORECASE,
)
_LABEL_PER = re.compile(
    r"\bper[\s-]+(?P<what>stack|link|lane|channel|port|pin|core|module|node|rack|server|socket|tray"
    r"|watt|W|dollar|hour|direction|way|chip|GPU|card|board|device|slice|bank|partition|TPC|GPC|XCD|GCD)\b"
)
_LABEL_TIMES = re.compile(
    rf"(?P<twist>\b(?:twice|thrice|(?:half|double|triple|quadruple) (?:of|the|its|that|a|an|as)"
    rf"|(?:third|quarter|fifth|tenth|fraction|share|percent) of"
    rf"|{_MANY} (?:times|{_PARTS}))(?![\w-])|%\s?of\b|\b\d+ [x×*] (?=[A-Za-z]))",
    re.IGNORECASE,
)
_LEAST = re.compile(
    r"\b(?P<word>minimum|minimal|lowest|smallest|worst[ -]case|average|idle)\b", re.IGNORECASE
)
_CLOCK = re.compile(rf"(?:\bat|@)\s*(?:a clock of\s+)?(?P<clock>{NUMBER}\s?[MGk]?Hz)\b")
_PEAK = re.compile(
    r"\b(?:peak|theoretical|datasheet|data sheet|rated|nominal|specified|advertised)\b",
    re.IGNORECASE,
)
_REACHED = re.compile(r"measur|achiev|reach|observ|attain|empiric|benchmark", re.IGNORECASE)
_WHOLE = re.compile(
    r"\b(?:of|for|in|on|across)\s+(?:the\s+)?(?:whole\s+|entire\s+|full\s+|complete\s+)?"
    r"(?:chip|GPU|card|board|device)\b",
    re.IGNORECASE,
)
_SCOPES: dict[str, str] = {
    "sm": "unit", "cu": "unit", "unit": "unit", "multiprocessor": "unit", "chip": "chip",
    "gpu": "chip", "card": "chip", "board": "chip", "device": "chip", "accelerator": "chip",
    "package": "chip", "processor": "chip", "die": "die", "gcd": "die", "block": "block",
    "cta": "block", "workgroup": "block", "thread": "thread",
}  # fmt: skip
_REMARK_PER = re.compile(r"(?:(?P<number>\d+(?:\.\d+)?) |[a-z ]+)?(?P<what>per [a-z ]+|per [A-Z]+)")
_TIME = frozenset({"second", "sec", "s"})
_ALIKE: dict[str, frozenset[str]] = {
    "clk": frozenset({"clk", "clock", "cycle"}),
    "clock": frozenset({"clk", "clock", "cycle"}),
    "cycle": frozenset({"clk", "clock", "cycle"}),
    "way": frozenset({"direction"}),
}


class Qualifiers(msgspec.Struct, frozen=True, kw_only=True):
    """Under which further conditions a statement says that its number holds."""

    per: tuple[str, ...] = ()
    """Words behind ``per``, ``/`` and ``each``, in the singular."""
    whole: bool = False
    """It speaks of the whole chip."""
    clock_hz: float | None = None
    least: str = ""
    """Minimum, average and the like."""
    peak: bool = False
    """It calls the number a peak and not a measured one."""

    def misfit(self, fact: Fact) -> str:
        """Why the row does not carry the statement, or nothing."""
        basis = fact.basis
        own = _own_words(fact)
        for word in self.per:
            if not _holds_per(word, fact, own):
                scope = f"per {basis.scope}" if basis.scope else "not so"
                return f"the statement says per {word}, L{fact.line} is {scope}"
        if self.whole and not self.per and basis.scope in ("unit", "block", "thread"):
            return f"L{fact.line} is per {basis.scope}, the statement speaks of the whole chip"
        if self.clock_hz and basis.clock_hz and not close(self.clock_hz, basis.clock_hz, 1e-3):
            return (
                f"L{fact.line} holds at {basis.clock_hz / 1e6:g} MHz, "
                f"the statement says {self.clock_hz / 1e6:g} MHz"
            )
        if self.least and self.least not in own:
            return f"L{fact.line} states no {self.least}"
        if self.peak and fact.measured:
            return f"L{fact.line} is a measured figure, the statement calls it a peak"
        return ""


def qualifiers(near: str, behind: str, after: str) -> Qualifiers:
    """Read the nearest label, what stands behind the value, and what follows its citation."""
    behind = _to_next_number(behind)
    after = _to_next_number(re.split(r"[,;:.]\s", after.lstrip(" \t*_`\"'|"), maxsplit=1)[0])
    per = [found["what"] for found in _LABEL_PER.finditer(near)]
    clock = _CLOCK.search(near)
    for text, pattern in ((behind, _PER.finditer), (after, _begins_per)):
        per.extend(found["what"] for found in pattern(text))
        if _EACH.match(text):
            per.append("each")
    if found := _SLASH.match(behind):
        per.append(found["what"])
    return Qualifiers(
        per=tuple(singular(word) for word in per),
        whole=bool(_WHOLE.search(near)) and " per " not in near,
        clock_hz=_hz(clock["clock"]) if clock else None,
        least=found["word"].casefold() if (found := _LEAST.search(near)) else "",
        peak=bool(_PEAK.search(near)) and not _REACHED.search(near),
    )


def clock_behind(near: Qualifiers, behind: str) -> Qualifiers:
    """With the clock that stands behind the value, as in ``989.4 TFLOPS at 1830 MHz``."""
    found = _CLOCK.match(behind.lstrip(" (,"))
    return msgspec.structs.replace(near, clock_hz=_hz(found["clock"])) if found else near


def behind_value(segment: str, value: Quantity) -> str:
    """What ``segment`` says behind the number and unit of a value."""
    number = re.match(NUMBER, value.text)
    if number is None:
        return ""
    spots = list(re.finditer(rf"(?<![\w.,]){re.escape(number[0])}(?!\d)", segment))
    if not spots:
        return ""
    rest = segment[spots[-1].end() :]
    unit = re.match(rf"[\s|*_`]*{UNIT}(?!\w)", rest) if number[0] != value.text else None
    return re.sub(rf"^{_SKIP}", "", rest[unit.end() :] if unit else rest)


def multiplied(near: str) -> str:
    """A word of the nearest label that makes a multiple or a share of the value, or nothing."""
    found = _LABEL_TIMES.search(near)
    return found["twist"].strip() if found else ""


def twist_behind(value: Quantity, behind: str, after: str) -> str:
    """What stands behind a number and makes it another statement, or nothing."""
    if value.number is None:
        return ""
    found = _SPREAD.match(behind) or _TIMES.match(behind) or _MORE.match(behind)
    if found:
        return found["twist"]
    found = _SUM.match(behind) or _CORRECTED.match(behind)
    if found and _is_another(value, found):
        return found["twist"]
    near = _to_next_number(behind)
    if found := _DENIED.search(near) or _DENIED.match(after.lstrip(" \t*_`\"'|")):
        return found["twist"]
    if many := _FOR_MANY.search(behind) or _FOR_MANY.match(after.strip(" (")):
        return many["many"]
    return ""


def _is_another(value: Quantity, found: re.Match[str]) -> bool:
    """Whether a second number states another value; one of another kind is only listed beside."""
    second = parse_quantity(found["second"].replace("|", " "))
    if second is None or second.number is None:
        return True
    if not second.unit:
        return not found["more"]
    return QUANTITY[second.unit] == QUANTITY[value.unit] and not alike(value, second)


def _holds_per(word: str, fact: Fact, own: frozenset[str]) -> bool:
    """Whether a row holds per ``word``, by its basis or by its own words."""
    basis = fact.basis
    scope = _SCOPES.get(word, "")
    if word in _TIME or (scope and scope == basis.scope):
        return True
    if scope == "chip":
        return basis.scope is None
    if word == "each":
        return basis.scope not in (None, "chip")
    if word in ("direction", "way") and basis.direction is not None:
        return True  # the claim compares directions itself
    same = _ALIKE.get(word, frozenset({word}))
    synonyms = {name for name, other in _SCOPES.items() if scope and other == scope}
    return bool(own & (same | synonyms))


def _own_words(fact: Fact) -> frozenset[str]:
    """Every word of a row in the singular, and of its remarks what its number is per."""
    remarks = " ".join(
        found["what"]
        for remark in fact.basis.remarks
        if (found := _REMARK_PER.fullmatch(remark)) and _is_own(found["number"], fact)
    )
    listed = tokens(f"{fact.words} {fact.metric.replace('_', ' ')} {fact.unit} {remarks}")
    return frozenset(map(singular, (*listed, *fact.topic.words)))


def _is_own(number: str | None, fact: Fact) -> bool:
    """Whether a remark speaks of the row's own number: ``38 per XCD`` on a row of 304 does not."""
    return number is None or float(number) == fact.value


def _begins_per(text: str) -> list[re.Match[str]]:
    found = _PER.match(text.lstrip(" ("))
    return [found] if found else []


def _to_next_number(text: str) -> str:
    """The text up to the next number that stands alone."""
    return re.split(rf"(?<![\w.]){NUMBER}", text, maxsplit=1)[0]


def _hz(text: str) -> float | None:
    value = parse_quantity(text)
    if value is None or value.number is None or QUANTITY[value.unit] != "hz":
        return None
    return to_base(value.number, value.unit)
