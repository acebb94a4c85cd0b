"""Elements of outputs that a reference leaves as they were, where nothing stood there before."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from kbs_backends.tasks.untraced import is_tracing
from kbs_engine.errors import InputError

_NAMED: Final = 3
"""So many elements are named."""


def left_alone(over_zeros: Any, over_ones: Any) -> Any:
    """Where results over a buffer of zeros and of ones are what stood there: a mask."""
    return (over_zeros == 0) & (over_ones == 1)


@contextlib.contextmanager
def fresh_memory(value: int) -> Iterator[None]:
    """In here tensors that are made without values hold ``value``.

    Drawn over zeros and over ones, what setup() left unwritten differs, and nothing else.
    """
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    aten = torch.ops.aten
    bare = (aten.empty, aten.empty_strided, aten.empty_like, aten.new_empty, aten.new_empty_strided)

    class Filled(TorchDispatchMode):  # type: ignore[no-untyped-call]
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return is_tracing()

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            del types
            made = func(*args, **(kwargs or {}))
            return made.fill_(value) if func.overloadpacket in bare else made

    with Filled():  # type: ignore[no-untyped-call]
        yield


def all_written(name: str, unwritten: Any, where: Path) -> None:
    """InputError where an element of an output has no value at all."""
    places = unwritten.nonzero()[:_NAMED].tolist()
    if not places:
        return
    count, total = int(unwritten.sum()), unwritten.numel()
    named = ", ".join(
        f"{name}[{', '.join(map(str, place))}]" if place else name for place in places
    )
    more = ", …" if count > len(places) else ""
    raise InputError(
        f"the reference does not write {named}{more} ({count} of {total} elements), and setup() "
        "gives that buffer no values: there is nothing to compare with",
        where=str(where),
        remedy=f"write every element of {name}, or make setup() fill it (torch.zeros in place of "
        "torch.empty) where elements shall stay as they are",
    )
