"""kbs utilization: occupancy, waves, tail and tile minimum of a grid, from cited limits."""

from __future__ import annotations

import re
from typing import Any

import click
import msgspec

from kbs.context import Context, pass_context
from kbs.subjects import FiniteRange
from kbs_engine.errors import UsageError
from kbs_engine.occupancy import Launch
from kbs_engine.utilization import DTYPE_BYTES, Matrix, tiles_of, utilization


class MatrixType(click.ParamType):  # type: ignore[type-arg]  # generic in newer stubs only
    """Extents as M=128,N=256,K=64."""

    name = "M=..,N=..,K=.."

    def convert(self, value: Any, param: Any, ctx: Any) -> Matrix:
        """Return the extents or fail with the form."""
        if isinstance(value, Matrix):
            return value
        pairs = re.findall(r"([A-Za-z]+)\s*=\s*(\d+)", str(value))
        found = {name.casefold(): int(number) for name, number in pairs}
        rest = re.sub(r"[A-Za-z]+\s*=\s*\d+|[,\s]", "", str(value))
        if set(found) != {"m", "n", "k"} or len(pairs) != len(found) or rest or 0 in found.values():
            self.fail(f"{value!r} is not of the form M=128,N=256,K=64", param, ctx)
        return Matrix(m=found["m"], n=found["n"], k=found["k"])


@click.command(
    "utilization",
    epilog="Example: kbs utilization --chip h100_sxm --block 256 --registers 195 "
    "--shared 147456 --tile M=128,N=256,K=64 --dims M=4096,N=4096,K=4096 --dtype bf16",
)
@click.option("--chip", "chip_name", required=True, help="GPU id or alias.")
@click.option("--grid", type=click.IntRange(min=1), help="Blocks. Default: the tiles of --dims.")
@click.option("--block", type=click.IntRange(min=1), required=True, help="Threads per block.")
@click.option("--registers", type=click.IntRange(min=1), required=True, help="Per thread.")
@click.option(
    "--shared",
    type=FiniteRange(),
    default=0.0,
    help="Bytes of shared memory per block, static and dynamic, without CUDA's reserve.",
)
@click.option(
    "--shared-config",
    type=FiniteRange(above_zero=True),
    help="Bytes of shared memory that the driver sets aside per SM. Default: all there is.",
)
@click.option("--tile", type=MatrixType(), help="Tile of one block.")
@click.option("--dims", type=MatrixType(), help="Extents of the problem.")
@click.option("--dtype", type=click.Choice(sorted(DTYPE_BYTES)), help="Type of the elements.")
@click.option("--kernel-time-ns", type=FiniteRange(above_zero=True), help="Measured.")
@pass_context
def command(
    context: Context,
    *,
    chip_name: str,
    grid: int | None,
    block: int,
    registers: int,
    shared: float,
    shared_config: float | None,
    **task: Any,
) -> int:
    """How many blocks fit on an SM, how many waves the grid takes, and what a tile costs.

    Exit 1 when a block does not fit. An UNKNOWN limit makes the answer unknown, never a guess.
    """
    tile, dims, dtype = task["tile"], task["dims"], task["dtype"]
    if any((tile, dims, dtype)) and not all((tile, dims, dtype)):
        raise UsageError(
            "a tile minimum needs --tile, --dims and --dtype", remedy="give all three or none"
        )
    if grid is None and dims is None:
        raise UsageError("the grid is not known", remedy="give --grid, or --tile with --dims")
    chip = context.store().chip(chip_name)
    found = utilization(
        chip,
        Launch(
            block=block,
            registers=registers,
            shared_bytes=shared,
            shared_config_bytes=shared_config,
        ),
        grid if grid is not None else tiles_of(dims, tile),
        dims=dims,
        tile=tile,
        dtype=dtype,
        time_ns=task["kernel_time_ns"],
    )
    if context.json:
        context.print_json(msgspec.to_builtins(found))
    else:
        from kbs.render.utilization import show_utilization

        show_utilization(context.console(), chip.name, found)
    return 1 if found.occupancy.fits is False else 0
