"""What people ask of a run: put into its journal, and followed by its next step."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import click
import msgspec

from kbs.context import Context
from kbs.looping.before_v0 import require_followed
from kbs.looping.home import open_run, refused_lines
from kbs.looping.refusing import gate_refuses
from kbs_engine.loop.parts import Order
from kbs_engine.shell import shell


def give_order(context: Context, root: Path, kind: str, *, told: str = "", **fields: Any) -> None:
    """Put an order into the journal, and say what comes of it.

    A run that stands at a gate which refuses follows no order before that lets it pass.
    """
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    order = msgspec.convert({"kind": kind, "at": now, **fields}, Order)
    with open_run(context, root) as run:
        require_followed(run, kind)
        run.journal.append("order", order=order)
        refused = gate_refuses(context, run)
    if context.json:
        rows = [msgspec.to_builtins(row) for row in refused]
        context.print_json({"run": str(root), "order": msgspec.to_builtins(order), "refused": rows})
    elif context.verbosity >= 0:
        goes_on = f"`kbs loop next {shell(root)}` goes on"
        follows = "followed once the gate passes" if refused else goes_on
        click.echo("\n".join([f"{kind}: {told}{follows}", *refused_lines(refused)]))
