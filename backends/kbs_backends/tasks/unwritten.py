"""Elements of outputs that a reference leaves as they were, where nothing stood there before."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from kbs_engine.errors import InputError

_NAMED: Final = 3
"""So many elements are named."""


def left_alone(over_zeros: Any, over_ones: Any) -> Any:
    """Where results over a buffer of zeros and of ones are what stood there: a mask."""
    return (over_zeros == 0) & (over_ones == 1)


@contextlib.contextmanager
def fresh_memory_marked() -> Iterator[None]:
    """In here torch fills memory that nobody has written: NaN, or the largest whole number."""
    import torch

    before = torch.are_deterministic_algorithms_enabled()
    only_warn = torch.is_deterministic_algorithms_warn_only_enabled()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of operations that have no deterministic form
        torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(before, warn_only=only_warn)


def holds_mark(value: Any) -> Any:
    """Where a tensor holds what ``fresh_memory_marked`` fills in."""
    import torch

    if value.is_floating_point() or value.is_complex():
        return value.isnan()
    return value == (True if value.dtype == torch.bool else torch.iinfo(value.dtype).max)


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
