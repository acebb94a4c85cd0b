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
    if poison and all(same_bits(outputs[name], poison[name]) for name in poison):
        return "stale_output" if history.latest() else "missing_output"
    if history.holds(outputs):
        return "cached_output"
    if poison and any(_kept(outputs[name], poison[name]) for name in poison):
        return "unwritten_elements"
    return _FAULTS.get(found.fault, "wrong_timed_output" if timed else "wrong_result")


def _kept(output: torch.Tensor, poison: torch.Tensor) -> bool:
    """Whether so many elements still hold the poison that chance does not explain it."""
    import torch

    if output.is_complex():
        output, poison = torch.view_as_real(output), torch.view_as_real(poison)
    if output.numel() == 0 or output.element_size() == 1:
        return False  # one byte meets its poison by chance too often
    found, before = bits(output), bits(poison)
    kept, turned = int((found == before).sum()), 0
    if output.is_floating_point():  # what overflows has the poison's sign as often as the other
        turned = int((found == before ^ torch.iinfo(before.dtype).min).sum())
    by_chance = turned + _CHANCE * math.sqrt(turned)
    return kept > max(1, output.numel() // 1000, by_chance)


def _detail(found: Difference, values: Values) -> str:
    named = f"{found.output}: " if found.output else ""
    return f"{named}{found.detail or 'all compared'}, on inputs '{values.distribution}'"
