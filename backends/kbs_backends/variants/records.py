"""What can be varied in a kernel source: tunables and method switches, with their places."""

from __future__ import annotations

from typing import Literal

import msgspec

from kbs_engine.errors import InputError

Value = int | float | str | bool
"""What a tunable can be set to. ``bool`` is never mixed with ``int``."""

Kind = Literal["mark", "inferred"]
Form = Literal["constant", "keyword", "default", "entry", "define", "argument"]
"""How a name gets its value."""


class MarkError(InputError):
    """A mark that cannot be understood, or a value that a mark does not permit."""


class UnreadableSourceError(MarkError):
    """A source that is not of its language, or of a language without marks."""


class Tunable(msgspec.Struct, frozen=True, kw_only=True):
    """A constant of the source that may be set to other values."""

    name: str
    """Name in the source; ``kernel.name`` where several kernels have one of that name."""
    line: int
    current: Value
    values: tuple[Value, ...]
    """What it may be, ``current`` among them, in the order of the mark."""
    kind: Kind = "mark"


class Switch(msgspec.Struct, frozen=True, kw_only=True):
    """A constant that turns one method on or off."""

    method: str
    name: str
    line: int
    current: bool


class Marks(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be varied, in the order of the source."""

    tunables: tuple[Tunable, ...] = ()
    switches: tuple[Switch, ...] = ()

    def values(self) -> dict[str, Value]:
        """Tunable name to current value."""
        return {tunable.name: tunable.current for tunable in self.tunables}

    def methods(self) -> dict[str, bool]:
        """Method id to whether it is on; a method with several constants is on if all are."""
        state: dict[str, bool] = {}
        for switch in self.switches:
            state[switch.method] = state.get(switch.method, True) and switch.current
        return state


class Binding(msgspec.Struct, frozen=True, kw_only=True):
    """A name given a literal value somewhere in the source."""

    name: str
    value: Value
    start: int
    """Byte offset of the value's first byte."""
    end: int
    line: int
    """Line on which the value ends, from 1."""
    form: Form
    scope: str = ""
    """Kernel launched, or function that holds it; empty at file level."""
    within_kernel: bool = False


class Comment(msgspec.Struct, frozen=True, kw_only=True):
    """A comment without its delimiters."""

    line: int
    text: str
    alone: bool
    """Nothing else stands on its line, so that it speaks of the next line."""


class Edit(msgspec.Struct, frozen=True):
    """Replacement of the bytes from ``start`` to ``end``."""

    start: int
    end: int
    text: str


class OverlapError(ValueError):
    """Two edits change the same bytes."""


def apply_edits(text: str, edits: list[Edit]) -> str:
    """Return ``text`` with all ``edits`` done; offsets are those of the old text.

    Insertions at one place keep the order in which they are given.

    Raises:
        OverlapError: Two edits overlap.
    """
    data = text.encode()
    parts: list[bytes] = []
    position = 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if edit.start < position:
            msg = f"edits overlap at byte {edit.start}"
            raise OverlapError(msg)
        parts += [data[position : edit.start], edit.text.encode()]
        position = edit.end
    parts.append(data[position:])
    return b"".join(parts).decode()
