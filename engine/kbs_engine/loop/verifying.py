"""The opcode check: does the machine code of the champion show the methods it claims?"""

from __future__ import annotations

from kbs_engine.loop.asks import JudgeOpcodes, OpcodesJudged
from kbs_engine.loop.ledger import Facts, Ledger, Steps
from kbs_engine.run.judged import MethodOpcodes, SassCheck


def verify(ledger: Ledger, facts: Facts, base: Facts) -> Steps:
    """Judge every method of a version by its opcodes; returns the SassCheck.

    Without machine code (a host, or a disassembler that is not there) nothing is observable,
    which is said and never counts as confirmed.
    """
    listing = facts.listing
    judged: tuple[MethodOpcodes, ...]
    if listing is None:
        why = "no machine code here: the kernel runs on a host" if not ledger.arch else (
            "the machine code could not be read"
        )  # fmt: skip
        judged = tuple(
            MethodOpcodes(method=method, outcome="not_observable", reason=why)
            for method in facts.methods
        )
    elif facts.methods:
        answer: OpcodesJudged = yield JudgeOpcodes(
            methods=facts.methods, arch=ledger.arch, after=listing, before=base.listing
        )
        judged = answer.methods
    else:
        judged = ()
    told = ", ".join(f"{row.method} {row.outcome}" for row in judged) or "no method to verify"
    yield ledger.progress("verify", facts.number, told, done=True)
    return SassCheck(
        version=facts.number,
        source_sha256=facts.source.sha256,
        before_sha256=base.source.sha256,
        arch=ledger.arch,
        tool=listing.tool if listing else "",
        methods=judged,
        listing_sha256=listing.text_sha256 if listing else "",
    )
