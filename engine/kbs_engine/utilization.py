"""Waves, tail and tile minimum of a grid, from cited limits."""

from __future__ import annotations

import math
from typing import Final

import msgspec

from kbs_engine.facts import Chip
from kbs_engine.occupancy import Launch, Occupancy, cited, occupancy
from kbs_engine.peaks import compute_roof, memory_roof
from kbs_engine.roofs import Roof
from kbs_engine.vocabulary import Dtype
from kbs_engine.work import Work

SCHEMA_VERSION = 1

DTYPE_BYTES: Final[dict[str, float]] = {
    "fp64": 8, "fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8_e4m3": 1, "fp8_e5m2": 1,
    "fp6": 0.75, "fp4": 0.5, "int32": 4, "int8": 1, "int4": 0.5,
}  # fmt: skip
"""Bytes of one element as stored (TF32 is stored as FP32)."""


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """Three extents of a matrix product: of the whole, or of one block's tile."""

    m: int
    n: int
    k: int

    def __post_init__(self) -> None:
        """Extents are positive."""
        if min(self.m, self.n, self.k) < 1:
            msg = f"extents must be 1 or more, got M={self.m}, N={self.n}, K={self.k}"
            raise ValueError(msg)


class Tail(msgspec.Struct, frozen=True, kw_only=True):
    """How a grid fills the chip, if all blocks take the same time."""

    slots: int
    """Blocks resident at once on the chip."""
    waves: float
    full_waves: int
    last_wave_blocks: int
    """Blocks of the partial last wave; 0 when every wave is full."""
    tail_share: float
    """Share (0–1) of the slot time that the partial wave leaves empty: 1 - waves / ⌈waves⌉."""
    rounds: int
    """Blocks that the busiest SM must run: ⌈grid / SMs⌉, whatever the scheduler does."""
    balance: float
    """Mean over busiest: grid / (SMs × rounds)."""


class TileMinimum(msgspec.Struct, frozen=True, kw_only=True):
    """What one output tile costs at the least, and the kernel with it."""

    blocks: int
    """Tiles of the problem: ⌈M / m⌉ × ⌈N / n⌉."""
    flops: float
    """2·m·n·K of one tile."""
    bytes: float
    """(m·K + K·n + m·n) × element size: operands loaded once per tile, output stored once."""
    intensity: float
    compute: Roof | None
    memory: Roof | None
    """Compulsory bytes of the whole problem over the device-memory bandwidth."""
    tile_ns: float | None
    """flops over the peak of one SM: cited chip peak / SMs."""
    compute_ns: float | None
    """tile_ns × rounds: the busiest SM runs that many tiles one after the other."""
    kernel_ns: float | None
    """The larger of compute_ns and the memory roof."""
    load_bytes_per_s: float | None
    """What all tiles must load per second, mostly from L2, to finish in kernel_ns."""
    share: float | None = None
    """kernel_ns / the measured time."""


class Utilization(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of ``kbs utilization``."""

    chip: str
    grid: int
    occupancy: Occupancy
    tail: Tail | None
    tile: TileMinimum | None = None
    notes: tuple[str, ...] = ()


def tail_of(grid: int, units: int, blocks_per_unit: int) -> Tail:
    """Waves and tail of a grid of equal blocks."""
    slots = units * blocks_per_unit
    waves = grid / slots
    rounds = math.ceil(grid / units)
    return Tail(
        slots=slots,
        waves=waves,
        full_waves=grid // slots,
        last_wave_blocks=grid % slots,
        tail_share=1 - waves / math.ceil(waves),
        rounds=rounds,
        balance=grid / (units * rounds),
    )


def tiles_of(dims: Matrix, tile: Matrix) -> int:
    """Output tiles of the problem."""
    return math.ceil(dims.m / tile.m) * math.ceil(dims.n / tile.n)


def utilization(
    chip: Chip,
    launch: Launch,
    grid: int,
    *,
    dims: Matrix | None = None,
    tile: Matrix | None = None,
    dtype: Dtype | None = None,
    time_ns: float | None = None,
) -> Utilization:
    """Occupancy, waves and tail of a grid; with tile, dims and dtype the tile minimum too."""
    resident = occupancy(chip, launch)
    units = chip.number("unit_count")
    notes: list[str] = []
    tail = None
    if resident.blocks_per_unit and units:
        tail = tail_of(grid, int(units), resident.blocks_per_unit)
    if launch.shared_config_bytes is None and launch.shared_bytes:
        notes.append(
            "shared memory is counted against all that the SM has; the driver may choose a "
            "smaller carve-out, which ncu prints as Shared Memory Configuration Size"
        )
    notes.append("clusters and barriers are not counted: both may lower the blocks per SM")
    minimum = None
    if dims and tile and dtype:
        minimum = _tile_minimum(chip, units, grid, dims, tile, dtype, time_ns, notes)
    return Utilization(
        chip=chip.id, grid=grid, occupancy=resident, tail=tail, tile=minimum, notes=tuple(notes)
    )


def _tile_minimum(
    chip: Chip,
    units: float | None,
    grid: int,
    dims: Matrix,
    tile: Matrix,
    dtype: Dtype,
    time_ns: float | None,
    notes: list[str],
) -> TileMinimum:
    size = DTYPE_BYTES[dtype]
    blocks = tiles_of(dims, tile)
    flops = 2.0 * tile.m * tile.n * dims.k
    moved = (tile.m * dims.k + dims.k * tile.n + tile.m * tile.n) * size
    least = (dims.m * dims.k + dims.k * dims.n + dims.m * dims.n) * size
    work = Work(
        kernel="gemm", dtype=dtype, permitted=(dtype,), flops=2.0 * dims.m * dims.n * dims.k
    )
    pipe = compute_roof(chip, work, clock_hz=None).roof
    memory = memory_roof(chip, least, measured=False)
    if pipe is None:
        notes.append(f"{cited(chip, f'peak_{dtype}_tensor')}: no tile minimum")
    if blocks != grid:
        notes.append(
            f"the problem has {blocks} tiles and the grid {grid} blocks: "
            + ("each block runs several tiles" if blocks > grid else "several blocks share a tile")
        )
    if tile.k > dims.k:
        notes.append(f"the tile is deeper (K={tile.k}) than the problem (K={dims.k})")
    tile_ns = flops / (pipe.value / units) * 1e9 if pipe and units else None
    rounds = math.ceil(blocks / units) if units else None
    compute_ns = tile_ns * rounds if tile_ns is not None and rounds else None
    floor = [ns for ns in (compute_ns, memory.time_ns if memory else None) if ns is not None]
    kernel_ns = max(floor) if compute_ns is not None and memory else None
    share = kernel_ns / time_ns if kernel_ns is not None and time_ns else None
    if share is not None and share > 1:
        notes.append(
            "the measured time is below this minimum: the clock ran above the one that the "
            "cited peak assumes, or dtype, dims or time are not those of the kernel"
        )
    return TileMinimum(
        blocks=blocks,
        flops=flops,
        bytes=moved,
        intensity=flops / moved,
        compute=pipe,
        memory=memory,
        tile_ns=tile_ns,
        compute_ns=compute_ns,
        kernel_ns=kernel_ns,
        load_bytes_per_s=(
            blocks * (moved - tile.m * tile.n * size) / kernel_ns * 1e9 if kernel_ns else None
        ),
        share=share,
    )
