"""Which sources may become a version: what the gate would refuse costs nothing to leave out."""

from __future__ import annotations

from kbs_engine.jobs import SourceRef
from kbs_engine.loop.ledger import Facts, Ledger


def no_version(ledger: Ledger, base: Facts, source: SourceRef) -> str:
    """Why a source can be no version of this run, whatever it does; empty where it can.

    Timed once more, the kernel of an earlier version would be another draw of the same kernel.
    """
    earlier = ledger.version_of(source.sha256)
    if earlier is not None:
        return f"is the kernel of v{earlier}, byte for byte"
    now, before = source.switches, base.source.switches
    names = sorted({*now, *before})
    flipped = [name for name in names if now.get(name, False) != before.get(name, False)]
    if ledger.settings.one_change and len(flipped) > 1:
        return f"switches {len(flipped)} methods at once ({', '.join(flipped)})"
    return ""
