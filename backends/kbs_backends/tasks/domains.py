"""``domains`` of a reference: where the values of inputs lie, read and checked."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from kbs_engine.errors import InputError

AS_DRAWN: Final = "setup"
"""Said of an input that has a structure (sorted, a table, a triangle): it is never redrawn."""
FORM: Final = 'domains = {"x": (low, high)}, or {"x": "setup"} to keep what setup() draws'
_ENDS = 2


def read_domains(stated: Any, where: Path) -> dict[str, tuple[float, float]]:
    """Both ends by name; equal ends for an input that stays as setup() draws it.

    Raises:
        InputError: Another form, an end that is no number, or ends in the wrong order.
    """
    if stated is None:
        return {}
    if not isinstance(stated, Mapping):
        raise _wrong(where, f"domains is a {type(stated).__name__}, not a dict")
    return {str(name): _ends(str(name), value, where) for name, value in stated.items()}


def check_names(domains: Mapping[str, Any], inputs: Mapping[str, Any], where: Path) -> None:
    """InputError for a name that is no input."""
    for name in domains:
        if name not in inputs:
            raise InputError(
                f"domains names {name}, which is no input", where=str(where),
                remedy=f"the inputs are {', '.join(inputs)}",
            )  # fmt: skip


@contextlib.contextmanager
def valid_only_as_drawn(distribution: str) -> Iterator[None]:
    """A reference that fails in here on other inputs than setup()'s may be right: it is said."""
    try:
        yield
    except InputError as problem:
        if distribution == AS_DRAWN:
            raise
        raise InputError(
            f"{problem.message} (on inputs '{distribution}')",
            where=problem.where,
            remedy='where only what setup() draws is valid, say domains = {"NAME": "setup"}; '
            f"else {problem.remedy}",
        ) from problem


def _ends(name: str, value: Any, where: Path) -> tuple[float, float]:
    if value == AS_DRAWN:
        return 0.0, 0.0
    if not isinstance(value, (tuple, list)) or len(value) != _ENDS:
        raise _wrong(where, f"the domain of {name} is {value!r}, not two numbers")
    for end in value:
        if isinstance(end, bool) or not isinstance(end, (int, float)) or math.isnan(end):
            raise _wrong(where, f"the domain of {name} has the end {end!r}, which is no number")
    low, high = float(value[0]), float(value[1])
    if low > high:
        raise _wrong(where, f"the domain of {name} goes down, from {low:g} to {high:g}")
    return low, high


def _wrong(where: Path, message: str) -> InputError:
    return InputError(message, where=str(where), remedy=f"write {FORM}")
