"""Tables of methods, signatures and symptoms."""

from __future__ import annotations

import re
from collections import Counter

from kbs_engine.methods import Method
from kbs_engine.signatures import Signature
from kbs_ingest.wiki.model import Wiki
from tests.pages.page_code import ROOT, blocks_of
from tools.markdown_table import code, table
from tools.recorded import NO_CLAIM, NOT_OBSERVABLE, Recorded

AXES = ("memory", "compute", "latency")
STATUSES = ("cited", "compiled", "exercised")


def counts_table(wiki: Wiki) -> str:
    """Count pages by axis and status."""
    found = Counter((method.axis, method.status) for method in wiki.methods.values())
    rows: list[tuple[object, ...]] = []
    for axis in AXES:
        row = [found[axis, status] for status in STATUSES]
        rows.append((axis, *row, sum(row)))
    totals = [sum(found[axis, status] for axis in AXES) for status in STATUSES]
    rows.append(("all", *totals, sum(totals)))
    return table(("Axis", *STATUSES, "all"), rows)


def methods_table(wiki: Wiki, recorded: Recorded) -> str:
    """One row a method, by axis and id."""
    ordered = sorted(wiki.methods.values(), key=lambda m: (AXES.index(m.axis), m.id))
    return table(
        ("Method", "Axis", "Languages", "Status", "Blocks compiled", "Signature"),
        [_method_row(method, recorded) for method in ordered],
    )


def _method_row(method: Method, recorded: Recorded) -> tuple[str, ...]:
    path = f"gpu-wiki/{method.citation.path}"
    signature = method.signature
    return (
        f"[`{method.id}`](../{path})",
        method.axis,
        ", ".join(method.languages),
        method.status,
        recorded.code(blocks_of(ROOT / path)),
        f"[`{signature}`](../gpu-wiki/signatures/{signature}.yaml)" if signature else "",
    )


def _signatures(wiki: Wiki) -> list[Signature]:
    return [file.signature for _, file in sorted(wiki.signatures.items())]


def _archs(wiki: Wiki) -> list[str]:
    named = {a for s in _signatures(wiki) for claim in s.claims for a in claim.arch}
    return sorted(named, key=lambda a: (a.startswith("gfx"), len(re.sub(r"[af]$", "", a)), a))


def signatures_table(wiki: Wiki, recorded: Recorded) -> str:
    """Method by target: what the probes showed."""
    archs = _archs(wiki)
    rows = [
        (f"`{s.method}`", *(recorded.cell(s, arch) for arch in archs)) for s in _signatures(wiki)
    ]
    return table(("Method", *(f"`{arch}`" for arch in archs)), rows)


def signature_counts(wiki: Wiki, recorded: Recorded) -> str:
    """Count cells and probes in words."""
    cells = Counter(
        recorded.cell(signature, arch) for signature in _signatures(wiki) for arch in _archs(wiki)
    )
    outcomes = [
        pair
        for signature in _signatures(wiki)
        for arch in _archs(wiki)
        if recorded.cell(signature, arch) not in {NO_CLAIM, NOT_OBSERVABLE}
        for pair in recorded.outcomes(signature, arch)
    ]
    right = sum(expected == outcome for expected, outcome in outcomes)
    blind, silent = cells[NOT_OBSERVABLE], cells[NO_CLAIM]
    return (
        f"{len(_signatures(wiki))} signatures × {len(_archs(wiki))} targets"
        f" = {cells.total()} pairs: {cells.total() - blind - silent} judged by probes,"
        f" {blind} not observable, {silent} without a claim.\n"
        f"{right} of {len(outcomes)} probe outcomes are what they must be.\n"
    )


def blind_table(wiki: Wiki) -> str:
    """Why opcodes cannot tell, per method and targets."""
    rows = [
        (f"`{signature.method}`", code(claim.arch), claim.not_observable)
        for signature in _signatures(wiki)
        for claim in signature.claims
        if claim.not_observable is not None
    ]
    return table(("Method", "Targets", "Why not observable"), rows)


def symptoms_table(wiki: Wiki) -> str:
    """One row a symptom, by axis and id."""
    ordered = sorted(wiki.rules.values(), key=lambda r: ((*AXES, "none").index(r.axis), r.id))
    rows = [
        (
            f"[`{rule.id}`](../gpu-wiki/{rule.citation.path})",
            rule.axis,
            code(rule.needs),
            ", ".join(rule.sections),
        )
        for rule in ordered
    ]
    return table(("Symptom", "Axis", "Needs", "ncu sections"), rows)
