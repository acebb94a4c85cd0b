"""The owner's view of the arena: write a call's arguments, poison, guard, read back."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import msgspec

from kbs_backends.device.accelerators import OwnerSide
from kbs_backends.device.decoys import Decoys, plant, reveal
from kbs_backends.device.layout import CANARY_BYTES, SHIFTS, Layout, Placed, canaries

if TYPE_CHECKING:
    import torch

GUARD_PATTERNS = 512


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """Where one call's arguments are."""

    tensors: tuple[Placed, ...]
    views: Any
    """Argument name → the owner's tensor over the arena."""
    guards: Any
    """Tensors over the canaries."""


class Arena:
    """The arguments of one task in memory that one worker maps: no two workers share any."""

    def __init__(self, side: OwnerSide, layout: Layout, *, move: bool = True) -> None:
        """Allocate; ``move`` False keeps every call at one address (a defence switched off)."""
        import torch

        self._layout = layout
        self._device = side.torch_device
        self._move = move
        self.block = side.allocate(layout.total_bytes)
        self._flat = self.block.bytes
        self._calls = 0
        self._start = 0
        generator = torch.Generator().manual_seed(secrets.randbits(31))
        pattern = torch.randint(
            0, 256, (GUARD_PATTERNS + 2 * CANARY_BYTES,), generator=generator, dtype=torch.uint8
        )
        self._pattern = pattern.to(side.torch_device)

    def place(self) -> Placement:
        """The next slot, at a random shift."""
        import torch

        slot, shift = (self._calls, secrets.randbelow(SHIFTS)) if self._move else (0, 0)
        self._calls += 1
        placed = self._layout.place(slot, shift)
        views = {}
        for one in placed:
            spec = one.spec
            dtype: torch.dtype = getattr(torch, spec.dtype)
            if spec.extent_bytes:
                flat = self._flat[one.offset : one.offset + spec.extent_bytes].view(dtype)
                views[spec.name] = flat.as_strided(spec.shape, spec.stride)
            else:
                views[spec.name] = torch.empty(spec.shape, dtype=dtype, device=self._flat.device)
        guards = [self._flat[begin : begin + size] for begin, size in canaries(placed)]
        return Placement(tensors=placed, views=views, guards=guards)

    def write(self, placement: Placement, inputs: dict[str, Any]) -> None:
        """Bring the inputs to their places and set the guards."""
        import torch

        for name, view in placement.views.items():
            value = inputs.get(name)
            if isinstance(value, torch.Tensor):
                view.copy_(value)
        self._start = secrets.randbelow(GUARD_PATTERNS)
        for guard in placement.guards:
            guard.copy_(self._guard(guard.numel()))

    def plant(self, placement: Placement, names: frozenset[str]) -> Decoys | None:
        """Let some elements of the named tensors hold other values until ``reveal``."""
        return plant(self._flat, placement.tensors, names, self._device)

    def reveal(self, decoys: Decoys) -> None:
        """The true values again, in stream order."""
        reveal(self._flat, decoys)

    def as_before_the_gate(
        self, placement: Placement, inputs: dict[str, Any], decoys: Decoys, names: frozenset[str]
    ) -> dict[str, torch.Tensor]:
        """The named tensors as they stood before ``reveal``; overwrites the arguments."""
        self.write(placement, inputs)
        self._flat[decoys.places] = decoys.false
        return {name: placement.views[name].clone() for name in names}

    def broken_guards(self, placement: Placement) -> int:
        """How many guards were written over."""
        import torch

        return sum(not torch.equal(guard, self._guard(guard.numel())) for guard in placement.guards)

    def _guard(self, nbytes: int) -> torch.Tensor:
        """What guards hold in this call; a stray byte meets it by chance in one call of 256."""
        return self._pattern[self._start : self._start + nbytes]


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
