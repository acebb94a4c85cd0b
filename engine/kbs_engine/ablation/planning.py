"""Which variants an ablation times."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from kbs_engine.errors import UsageError

Mode = Literal["loo", "factorial"]
MOST_IN_FACTORIAL: Final = 4
"""2^4 variants in one interleaved job is what a run can pay for."""


def plan_variants(
    methods: Sequence[str], mode: Mode = "loo", *, among: Sequence[str] = ()
) -> tuple[dict[str, bool], ...]:
    """Switch settings to time together; the first has all methods on, the last none of ``among``.

    ``loo``: all on, each one off, all off. The last tells whether the single effects add up.
    ``factorial``: every combination of ``among`` (default: all methods), the others staying on.

    Raises:
        UsageError: No methods, one twice, an unknown one, or too many for a factorial.
    """
    chosen = tuple(among) or tuple(methods)
    if not methods or len(set(methods)) != len(methods) or not set(chosen) <= set(methods):
        raise UsageError(f"cannot ablate {', '.join(chosen) or 'nothing'}: name each method once")
    if mode == "factorial":
        if len(chosen) > MOST_IN_FACTORIAL:
            raise UsageError(
                f"a factorial of {len(chosen)} methods needs {2 ** len(chosen)} variants",
                remedy=f"choose at most {MOST_IN_FACTORIAL}, or use leave-one-out",
            )
        states = itertools.product((True, False), repeat=len(chosen))
        return tuple(_variant(methods, off_of(chosen, state)) for state in states)
    offs = [(), *((method,) for method in methods)]
    if len(methods) > 1:
        offs.append(tuple(methods))
    return tuple(_variant(methods, off) for off in offs)


def off_of(methods: Sequence[str], state: Sequence[bool]) -> tuple[str, ...]:
    """The methods whose switch is off in ``state``."""
    return tuple(method for method, on in zip(methods, state, strict=True) if not on)


def _variant(methods: Sequence[str], off: Sequence[str]) -> dict[str, bool]:
    return {method: method not in off for method in methods}


def variant_name(switches: Mapping[str, bool]) -> str:
    """``full``, ``no_<method>``, or ``off_a+b``: the folder names of a run."""
    off = [method for method, on in switches.items() if not on]
    if not off:
        return "full"
    return f"no_{off[0]}" if len(off) == 1 else f"off_{'+'.join(off)}"
