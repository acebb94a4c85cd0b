"""A few elements of the inputs hold other values until the gate opens.

Inputs are written before the cache is flushed, and a flush takes long enough to compute in: a
stream or a thread of the candidate could do its work then, before any clock runs. So some
elements, drawn in secret, hold the value of another element of the same tensor (nothing that
could not stand there), and get their own back in the last step before the gate: one small
kernel on the owner's stream, ahead of the gate's own write. Expected values are those of the
true inputs; what was computed ahead is wrong, and is recognized.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from kbs_backends.device.layout import Placed
from kbs_backends.device.task import LoadedTask, Values
from kbs_backends.tasks import Tolerance
from kbs_engine.errors import KbsError

if TYPE_CHECKING:
    import numpy as np
    import torch

DECOYS = 32
"""Elements of one tensor that are exchanged: at most so many sectors of L2 are touched."""
SHARE = 8
"""At most one element in so many, but at least one."""
MOST_TRIED = 9
"""Sets of decoys by which a wrong output is explained: all, then those of single tensors."""


class Decoys(msgspec.Struct, frozen=True, kw_only=True):
    """What stands where until the gate opens; tensors on the device of the arena."""

    places: Any
    """Bytes of the arena, as indices."""
    true: Any
    false: Any


def plant(
    flat: torch.Tensor,
    placed: Sequence[Placed],
    names: frozenset[str],
    begin: int,
    drawn: np.random.Generator,
) -> Decoys | None:
    """Exchange elements of the named tensors in ``flat``, which begins at byte ``begin``.

    None: there is nothing to exchange.
    """
    import numpy as np
    import torch

    places, sources = [], []
    for one in placed:
        size = math.prod(one.spec.shape)
        if one.spec.name not in names or size < 2:  # noqa: PLR2004 - one value has no other
            continue
        count = max(1, min(DECOYS, size // SHARE))
        chosen = np.unique(_offsets(one, drawn.integers(size, size=count)))
        others = _offsets(one, drawn.integers(size, size=chosen.size))
        item = np.arange(one.spec.item_bytes)
        places.append((chosen[:, None] + item).ravel())
        sources.append((others[:, None] + item).ravel())
    if not places:
        return None
    both = np.stack((np.concatenate(places), np.concatenate(sources)))
    at, source = torch.from_numpy(both).to(flat.device)
    here = at - begin
    decoys = Decoys(places=at, true=flat[here], false=flat[source - begin])
    flat[here] = decoys.false
    return decoys


def reveal(flat: torch.Tensor, decoys: Decoys) -> None:
    """Put the true values back; done in stream order."""
    flat[decoys.places] = decoys.true


def explains(
    task: LoadedTask, decoyed: dict[str, torch.Tensor], values: Values, outputs: dict[str, Any]
) -> bool:
    """Whether wrong outputs are those of the inputs before the gate opened.

    Every element that is wrong must be what all decoys give, or those of one tensor: a reader
    may have seen one input before and another after they were put there.
    """
    from kbs_backends.tasks import compare

    sets = [decoyed, *({name: one} for name, one in decoyed.items())][:MOST_TRIED]
    found = dict(values.expected)
    for some in sets if len(decoyed) > 1 else sets[:1]:
        try:
            ahead = task.expected_of({**values.inputs, **some})
        except (KbsError, RuntimeError):  # the user's reference on values nobody promised it
            return False
        found = {name: _nearer(outputs[name], was, ahead[name], values.tolerance.of(name))
                 for name, was in found.items()}  # fmt: skip
        if compare(outputs, found, values.specs, values.tolerance).ok:
            return True
    return False


def _nearer(out: Any, expected: Any, ahead: Any, tolerance: Tolerance) -> Any:
    """The expected values where they hold, those of decoys elsewhere."""
    import torch

    from kbs_backends.tasks.comparing import root_mean_square

    unit = root_mean_square(expected) if tolerance.derived else 1.0
    wide = expected.to(torch.float64) if expected.is_floating_point() else expected  # fp8 has no -
    right = torch.isclose(out.to(wide.dtype), wide, atol=tolerance.atol * unit, rtol=tolerance.rtol)
    return torch.where(right, expected, ahead.to(expected.dtype))


def _offsets(one: Placed, elements: Any) -> Any:
    """Byte offsets in the arena of elements counted in the order of the shape."""
    import numpy as np

    spec = one.spec
    if spec.dense:
        return one.offset + elements * spec.item_bytes
    at = np.full(elements.shape, one.offset, dtype=np.int64)
    for index, stride in zip(np.unravel_index(elements, spec.shape), spec.stride, strict=True):
        at += index.astype(np.int64) * stride * spec.item_bytes
    return at
