"""Whether a run stands at a gate that does not let its version through; nothing is written."""

from __future__ import annotations

from kbs.context import Context
from kbs.inspecting import gate_inspectors
from kbs.looping.running import loop_inspectors, replayed
from kbs_engine.errors import StoreError
from kbs_engine.gate import Inspectors, Refusal, check_version
from kbs_engine.loop.asks import CheckGate
from kbs_engine.loop.retelling import Retold, begun, retell
from kbs_engine.run import RunFolder


def gate_refuses(
    context: Context, run: RunFolder, retold: Retold | None = None
) -> tuple[Refusal, ...]:
    """Why the gate at which a run stands refuses; empty where it stands at none.

    ``retold`` is the run told again, where somebody did so already.
    """
    if not begun(run):
        return ()
    try:
        actions = (retold or retell(run)).actions
    except StoreError:
        return ()  # of another version of kbs, whose gate it is
    ask = actions[-1] if actions else None
    if not isinstance(ask, CheckGate):
        return ()
    return check_version(run, ask.version, ask.final, _inspectors(context, run))


def _inspectors(context: Context, run: RunFolder) -> Inspectors:
    """What the loop's own gate borrows, but for the index: the log is read as it lies."""
    if replayed(run.state().settings.device) is not None:
        return loop_inspectors(None)

    def known(prefix: str) -> bool:
        from kbs_ingest.experience.query import find_record

        return bool(find_record(context.home, prefix))

    return loop_inspectors(gate_inspectors(context.roots, run.root, known_record=known))
