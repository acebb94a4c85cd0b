"""The owner's view of the arena: write a call's arguments, poison, guard, read back."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import msgspec

from kbs_backends.device.accelerators import OwnerSide
from kbs_backends.device.decoys import Decoys, plant, reveal
from kbs_backends.device.layout import CANARY_BYTES, SHIFTS, Layout, Placed, canaries
from kbs_backends.tasks.arguments import once

if TYPE_CHECKING:
    import torch

GUARD_PATTERNS = 512


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """Where one call's arguments are."""

    slot: int
    """Two placements in one slot overlap, whatever their shifts."""
    tensors: tuple[Placed, ...]
    views: Any
    """Argument name → the owner's tensor over the arena."""
    guards: Any
    """Tensors over the canaries."""
    staged: Any
    """Argument name → where its values are made ready, in memory that no worker maps."""
    staged_guards: Any
    begin: int
    """Bytes of the arena from the first guard to behind the last."""
    end: int


class Arena:
    """The arguments of one task in memory that one worker maps: no two workers share any."""

    def __init__(self, side: OwnerSide, layout: Layout, *, move: bool = True) -> None:
        """Allocate; ``move`` False keeps every call at one address (a defence switched off)."""
        import numpy as np
        import torch

        self._layout = layout
        self._move = move
        self.block = side.allocate(layout.total_bytes)
        self._flat = self.block.bytes
        self._stage = torch.empty(layout.slot_bytes, dtype=torch.uint8, device=side.torch_device)
        self._calls = 0
        self._placements: dict[tuple[int, int], Placement] = {}
        self._drawing = np.random.default_rng(secrets.randbits(128))
        generator = torch.Generator().manual_seed(secrets.randbits(31))
        pattern = torch.randint(
            0, 256, (GUARD_PATTERNS + 2 * CANARY_BYTES,), generator=generator, dtype=torch.uint8
        )
        self._pattern = pattern.to(side.torch_device)

    def place(self) -> Placement:
        """The next slot, at a random shift."""
        slot, shift = (self._calls, secrets.randbelow(SHIFTS)) if self._move else (0, 0)
        self._calls += 1
        where = slot % self._layout.slots, shift
        if where not in self._placements:
            self._placements[where] = self._placement(*where)
        return self._placements[where]

    def _placement(self, slot: int, shift: int) -> Placement:
        placed = self._layout.place(slot, shift)
        guards = canaries(placed)
        begin, end = (guards[0][0], sum(guards[-1])) if guards else (0, 0)
        return Placement(
            slot=slot,
            tensors=placed,
            views=self._views(placed, self._flat, 0),
            guards=[self._flat[at : at + size] for at, size in guards],
            staged=self._views(placed, self._stage, begin),
            staged_guards=[self._stage[at - begin : at - begin + size] for at, size in guards],
            begin=begin,
            end=end,
        )

    def write(self, placement: Placement, inputs: dict[str, Any]) -> None:
        """Make the inputs and the guards ready; ``commit`` brings them to their places."""
        import torch

        for name, view in placement.staged.items():
            value = inputs.get(name)
            if isinstance(value, torch.Tensor):
                once(view).copy_(once(value, view.stride()))
        start = secrets.randbelow(GUARD_PATTERNS)  # a stray byte meets it once in 256 calls
        for guard in placement.staged_guards:
            guard.copy_(self._pattern[start : start + guard.numel()])

    def plant(self, placement: Placement, names: frozenset[str]) -> Decoys | None:
        """Let some elements of the named tensors hold other values until ``reveal``."""
        return plant(self._stage, placement.tensors, names, placement.begin, self._drawing)

    def commit(self, placement: Placement) -> None:
        """Bring what was made ready to the arena, in one copy.

        A worker waits before its gate meanwhile, and the device changes from its context to the
        owner's and back whenever the owner's stream runs dry: many small operations here would
        cost milliseconds.
        """
        size = placement.end - placement.begin
        self._flat[placement.begin : placement.end].copy_(self._stage[:size])

    def reveal(self, decoys: Decoys) -> None:
        """The true values again, in stream order."""
        reveal(self._flat, decoys)

    def as_before_the_gate(
        self, placement: Placement, inputs: dict[str, Any], decoys: Decoys, names: frozenset[str]
    ) -> dict[str, torch.Tensor]:
        """The named tensors as they stood before ``reveal``; overwrites the arguments."""
        self.write(placement, inputs)
        self.commit(placement)
        self._flat[decoys.places] = decoys.false
        return {name: placement.views[name].clone() for name in names}

    def guards_hold(self, placement: Placement) -> bool:
        """Whether no guard was written over since ``commit``."""
        import torch

        if not placement.guards:
            return True
        return torch.equal(torch.cat(placement.guards), torch.cat(placement.staged_guards))

    def _views(self, placed: tuple[Placed, ...], flat: torch.Tensor, begin: int) -> dict[str, Any]:
        """Tensors over the arguments in ``flat``, which begins at byte ``begin`` of the arena."""
        import torch

        views = {}
        for one in placed:
            spec, at = one.spec, one.offset - begin
            dtype: torch.dtype = getattr(torch, spec.dtype)
            if spec.extent_bytes:
                part = flat[at : at + spec.extent_bytes].view(dtype)
                views[spec.name] = part.as_strided(spec.shape, spec.stride)
            else:
                views[spec.name] = torch.empty(spec.shape, dtype=dtype, device=flat.device)
        return views


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors hold the same bits, NaN included."""
    import torch

    if one.numel() == 0:
        return True
    return torch.equal(bits(one), bits(other))


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """The elements' bits as integers of the same width, flat."""
    import torch

    widths = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    flat = tensor.contiguous().reshape(-1)
    return flat.view(widths.get(tensor.element_size(), torch.uint8))
