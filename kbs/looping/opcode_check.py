"""Opcode verdicts of a version's methods, by the signatures of the wiki."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbs_engine.loop.asks import JudgeOpcodes, OpcodesJudged
from kbs_engine.opcodes import FunctionListing
from kbs_engine.run.records import MethodOpcodes
from kbs_engine.signatures import Signature, SignatureVerdict, verdict

if TYPE_CHECKING:
    from kbs_ingest.store import Store

ORDER = ("confirmed", "refuted", "not_observable")
"""Over the functions of a call: one that shows a method is enough."""


def judge(ask: JudgeOpcodes, store: Store | None) -> OpcodesJudged:
    """One verdict per method; without a signature nothing can be observed."""
    signatures = store.signatures() if store else {}
    rows = []
    for method in ask.methods:
        held = signatures.get(method)
        if held is None:
            why = "the wiki has no signature of it" if store else "the run uses no knowledge"
            rows.append(MethodOpcodes(method=method, outcome="not_observable", reason=why))
        else:
            rows.append(_judge(held.signature, ask))
    return OpcodesJudged(methods=tuple(rows))


def _judge(signature: Signature, ask: JudgeOpcodes) -> MethodOpcodes:
    before = {row.name: row for row in ask.before.functions} if ask.before else {}
    single = ask.before.functions[0] if ask.before and len(ask.before.functions) == 1 else None
    found: list[SignatureVerdict] = [
        verdict(signature, _arch(ask.arch, signature), function, _earlier(function, before, single))
        for function in ask.after.functions
    ]
    if not found:
        return MethodOpcodes(
            method=signature.method, outcome="not_observable", reason="the listing has no function"
        )
    best = min(found, key=lambda row: ORDER.index(row.outcome))
    return MethodOpcodes(
        method=signature.method, outcome=best.outcome, reason=best.reason, functions=tuple(found)
    )


def _earlier(
    function: FunctionListing, before: dict[str, FunctionListing], single: FunctionListing | None
) -> FunctionListing | None:
    """The same function before the change; the only one where names differ."""
    return before.get(function.name, single)


def _arch(arch: str, signature: Signature) -> str:
    """The target as the signature names it: ``sm_90a`` is asked as ``sm_90`` where only that is."""
    if signature.for_arch(arch) or not arch.endswith(("a", "f")):
        return arch
    return arch[:-1]
