"""kbs replicate: the claim of a capsule measured again here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from kbs.context import Context, pass_context
from kbs.paths import PathType

if TYPE_CHECKING:
    from kbs_engine.experience import Replication


@click.command("replicate", epilog="Example: kbs replicate run_20260131_120000.capsule.zip")
@click.argument("capsule", type=PathType())
@click.option(
    "--device",
    default="auto",
    show_default=True,
    help="auto, cuda, cuda:1, host, or recorded:DIR.",
)
@click.option("--gpu", type=click.IntRange(0), help="Device index; the same as --device cuda:N.")
@click.option("--origin", help="Whose the record is. Default: this home.")
@click.option("--dry-run", is_flag=True, help="Measure, and record nothing.")
@pass_context
def command(
    context: Context,
    *,
    capsule: Path,
    device: str,
    gpu: int | None,
    origin: str | None,
    dry_run: bool,
) -> None:
    """Check and time the kernels of CAPSULE again, and append what came of it to the log.

    Each machine that replicates a claim counts as one more machine in the ranking. What a host
    or a recording says is recorded and never counts. Exit 1 when the claim does not hold here.
    """
    from kbs.experience.options import lore_of
    from kbs.experience.replicating import read_capsule, replicate
    from kbs.measuring.options import require_one_device
    from kbs_backends.device import open_device
    from kbs_engine.blobs import BlobStore
    from kbs_ingest.experience import append

    opened = read_capsule(capsule)
    blobs = BlobStore(context.home / "blobs")
    require_one_device(device, gpu)
    spec = device if gpu is None else f"cuda:{gpu}"
    quiet = context.json or context.verbosity < 0
    with open_device(spec, blobs) as target:
        found = replicate(
            opened,
            target,
            blobs,
            replayed=spec.startswith("recorded:"),
            lore=lore_of(context),
            tell=lambda step: None if quiet else click.echo(f"{step} …", err=True),
        )
    ids = () if dry_run else append(context.home, [found], origin=origin)
    if context.json:
        shape = {**msgspec.to_builtins(found), "overlaps": overlaps(found), "recorded": list(ids)}
        context.print_json(shape)
    else:
        click.echo(_told(found))
    if found.verdict != "replicated":
        click.get_current_context().exit(1)


def _told(found: Replication) -> str:
    """One line: the ratio here beside the claim, or what failed."""
    where = f"{found.chip} ({found.device})"
    claimed = found.claimed or (0.0, 0.0, 0.0)
    if found.ratio is None or found.low is None or found.high is None:
        return f"{found.verdict} on {where}: {found.reason}"
    told = (
        f"{found.verdict} on {where}: {found.ratio:.3f} times as fast as v0 "
        f"({found.low:.3f} to {found.high:.3f}); claimed {claimed[0]:.3f} "
        f"({claimed[1]:.3f} to {claimed[2]:.3f})"
    )
    if overlaps(found) is False:
        told += "; the intervals do not overlap: how much faster it is was not replicated"
    return told


def overlaps(found: Replication) -> bool | None:
    """Whether the interval here and the claimed one share a ratio; None without either."""
    if found.claimed is None or found.low is None or found.high is None:
        return None
    return found.low <= found.claimed[2] and found.claimed[1] <= found.high
