"""Outputs whose place in the arena nobody has written again: there they must stay what they were.

A write after the stop clock may come at any time, so every output is compared once with what is
left in its place: just before that place is written again, or when the worker's job ends. That
is one comparison a call. Outputs that were right are in the worker's history anyway, which
holds more calls than the arena has slots: remembering them takes no memory of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbs_backends.device.arena import Placement, same_bits

if TYPE_CHECKING:
    import torch


class StandingOutputs:
    """The outputs of the last call in every slot of one arena."""

    def __init__(self) -> None:
        """None yet."""
        self._of_slot: dict[int, tuple[Placement, dict[str, torch.Tensor]]] = {}

    def remember(self, placement: Placement, outputs: dict[str, torch.Tensor]) -> None:
        """``outputs`` are what stood at ``placement`` when its call was done."""
        self._of_slot[placement.slot] = placement, outputs

    def forget(self, placement: Placement) -> None:
        """The owner itself has written there."""
        self._of_slot.pop(placement.slot, None)

    def leave(self, placement: Placement) -> bool:
        """Look for the last time at this slot, whatever the shift; whether it is unchanged."""
        standing = self._of_slot.pop(placement.slot, None)
        return standing is None or _unchanged(*standing)

    def unchanged(self) -> bool:
        """Whether all of them are still what they were."""
        return all(_unchanged(*standing) for standing in self._of_slot.values())


def _unchanged(placement: Placement, outputs: dict[str, torch.Tensor]) -> bool:
    return all(same_bits(placement.views[name], was) for name, was in outputs.items())
