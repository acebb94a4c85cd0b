"""From a comparison to a reason: what kind of wrong a wrong output is."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

from kbs_backends.device.arena import bits, same_bits
from kbs_backends.device.refusal import Refusal
from kbs_backends.device.task import Values
from kbs_backends.tasks import Difference

if TYPE_CHECKING:
    import torch

Outputs = dict[str, "torch.Tensor"]
REMEMBERED = 4
"""Earlier outputs of a worker that a wrong one is compared with."""
_CHANCE = 6
"""Standard deviations that chance does not reach."""
_NARROW_BYTES = 2
"""Floats of so few bytes meet a NaN of the poison now and then."""
_LEAST_BITS = 20
"""Drawn bits that a kernel does not meet by chance: once in a million calls."""

_FAULTS = {
    "shape": "wrong_shape", "stride": "wrong_stride", "dtype": "wrong_dtype",
    "device": "wrong_device", "missing": "missing_output", "type": "lazy_tensor",
    "not_finite": "nonfinite", "nothing_compared": "task_empty",
}  # fmt: skip


class History:
    """The last outputs of one worker."""

    def __init__(self) -> None:
        """None yet."""
        self._outputs: deque[Outputs] = deque(maxlen=REMEMBERED)

    def latest(self) -> Outputs | None:
        """What the call before gave."""
        return self._outputs[-1] if self._outputs else None

    def add(self, outputs: Outputs) -> None:
        """Remember."""
        self._outputs.append(outputs)

    def holds(self, outputs: Outputs) -> bool:
        """Whether an earlier call gave the very same bits."""
        return any(
            all(same_bits(outputs[name], older[name]) for name in outputs)
            for older in self._outputs
        )


def judge(
    history: History, values: Values, outputs: Outputs, poison: Outputs, *, timed: bool
) -> Difference:
    """The comparison when it holds; Refusal with the kind of fault when it does not."""
    from kbs_backends.tasks import compare, holds

    if timed and holds(outputs, values.expected, values.specs, values.tolerance):
        history.add(outputs)
        return Difference(ok=True, compared_elements=sum(o.numel() for o in outputs.values()))
    found = compare(outputs, values.expected, values.specs, values.tolerance)
    if not found.ok:
        raise Refusal(_code(found, history, outputs, poison, timed=timed), _detail(found, values))
    history.add(outputs)
    return found


def _code(
    found: Difference, history: History, outputs: Outputs, poison: Outputs, *, timed: bool
) -> str:
    if _untouched(outputs, poison):
        return "stale_output" if history.latest() else "missing_output"
    if history.holds(outputs):
        return "cached_output"
    if poison and any(_kept(outputs[name], poison[name]) for name in poison):
        return "unwritten_elements"
    return _FAULTS.get(found.fault, "wrong_timed_output" if timed else "wrong_result")


def _untouched(outputs: Outputs, poison: Outputs) -> bool:
    """Whether all outputs hold the poison, and so much of it that chance does not explain it.

    Wide floats are no chance. Of whole numbers, truths and single bytes, as much is drawn as they
    differ: a kernel that writes one number everywhere meets a poison that does so too.
    """
    if not poison or not all(same_bits(outputs[name], poison[name]) for name in poison):
        return False
    return sum(map(_drawn_bits, poison.values())) >= _LEAST_BITS


def _drawn_bits(poison: torch.Tensor) -> float:
    """About how many bits of a poison a kernel would have to meet by chance."""
    import torch

    inexact = poison.is_floating_point() or poison.is_complex()
    if poison.numel() == 0 or (inexact and poison.element_size() > 1):
        return math.inf if poison.numel() else 0.0
    return poison.numel() * math.log2(torch.unique(bits(poison)).numel())


def _kept(output: torch.Tensor, poison: torch.Tensor) -> bool:
    """Whether so many elements still hold the poison that chance does not explain it."""
    import torch

    if output.is_complex():
        output, poison = torch.view_as_real(output), torch.view_as_real(poison)
    if output.numel() == 0 or output.element_size() == 1:
        return False  # one byte meets its poison by chance too often
    found, before = bits(output), bits(poison)
    inexact = output.is_floating_point()
    # What overflows has the poison's sign as often as the other, and a whole number that is
    # frequent meets the poison of its neighbour as often as its own.
    other = before ^ torch.iinfo(before.dtype).min if inexact else before.roll(1)
    kept, met = int((found == before).sum()), int((found == other).sum())
    rare = inexact and output.element_size() > _NARROW_BYTES
    by_chance = met + _CHANCE * math.sqrt(met if rare else met + 1)
    return kept > max(1, output.numel() // 1000, by_chance)


def _detail(found: Difference, values: Values) -> str:
    named = f"{found.output}: " if found.output else ""
    return f"{named}{found.detail or 'all compared'}, on inputs '{values.distribution}'"
