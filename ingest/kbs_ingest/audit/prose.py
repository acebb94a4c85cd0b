"""What a page without a table of specs states: every number with a unit, by its line."""

from __future__ import annotations

import re
from itertools import pairwise

from kbs_engine.facts import Basis
from kbs_ingest.audit.knowledge import Fact, Page
from kbs_ingest.audit.unitwords import UNIT
from kbs_ingest.audit.values import NUMBER, parse_quantity
from kbs_ingest.audit.words import tokens, topic

_NUMBER = re.compile(rf"(?<![\w.,:/-])({NUMBER})(?:\s*({UNIT}))?(?![\w/])")
_WORDS = re.compile(r"\b(HBM\d\w*|GDDR\d\w*|gfx\d+\w*|sm_\d+\w*)\b")
_CLAUSE = re.compile(r"[;:]\s|,\s|\.\s|[()]")
_MAX_LINE = 2000


def prose_facts(page: Page) -> tuple[Fact, ...]:
    """Facts of free text; a table's heading row lends its words to the rows below."""
    facts = []
    heading = header = ""
    for number, line in enumerate(page.lines, start=1):
        if line.startswith("#"):
            heading, header = line, ""
            continue
        if "|" not in line:
            header = ""
        elif not header:
            header = line
            continue
        if not line.strip() or len(line) > _MAX_LINE:
            continue
        context = topic(tokens(f"{heading} {header} {line}"))
        overall = _basis(line)
        clauses = [(part, _basis(part)) for part in _CLAUSE.split(line)]
        texts = [found[0] for found in _NUMBER.finditer(line)]
        texts.extend(found[0] for found in _WORDS.finditer(line))
        texts.extend(_split_cells(line))
        for text in texts:
            own = next((basis for part, basis in clauses if text in part), Basis())
            basis = own if own.density or own.scope or len(clauses) == 1 else overall
            value = parse_quantity(text)
            if value is None:
                continue
            facts.append(
                Fact(
                    line=number,
                    metric="",
                    words=line.strip()[:80],
                    value=value.number if value.number is not None else value.word,
                    unit=value.unit,
                    basis=basis,
                    topic=context,
                )
            )
    return tuple(facts)


def _basis(text: str) -> Basis:
    """Density and scope as far as a text says one of them alone."""
    words = tokens(text)
    both = "dense" in words and bool({"sparse", "sparsity"} & set(words))
    density = None if both else topic(words).density
    return Basis(density=density, scope="die" if {"die", "gcd"} & set(words) else None)


def _split_cells(line: str) -> list[str]:
    """``| 4.0 | TB/s |`` reads as ``4.0 TB/s``."""
    if "|" not in line:
        return []
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return [
        f"{value} {unit}"
        for value, unit in pairwise(cells)
        if re.fullmatch(NUMBER, value) and re.fullmatch(UNIT, unit)
    ]
