"""Templates: parameterised implementations that a branch may start from.

A template states which operation it computes (its ``op``, defined in torch by
``kbs_backends.templates.ops``), which tensors play which role, and where it is valid. That it
fits a task is found by comparing values, and every instance passes the full check like any
other candidate; nothing here is taken on trust.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Literal

import msgspec

from kbs_engine.facts import Citation
from kbs_engine.symptoms import Source
from kbs_engine.vocabulary import Dtype, Family, Language

SCHEMA_VERSION = 1

DIM = re.compile(r"\*?[A-Z][A-Z0-9_]*|[1-9]\d*")
"""A dim of a role: a name, a number, or ``*M`` for any number of leading dims, flattened."""


class Role(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One tensor of a template by the part that it plays."""

    name: str
    direction: Literal["in", "out"]
    shape: tuple[str, ...]
    dtypes: tuple[Dtype | Literal["int64"], ...]
    optional: bool = False
    """An input that the operation can do without (a bias)."""

    def __post_init__(self) -> None:
        """Refuse shapes that mean nothing."""
        for place, dim in enumerate(self.shape):
            if not DIM.fullmatch(dim) or (dim.startswith("*") and place > 0):
                msg = f"{dim!r} is no dim of role {self.name}: a name, a number, or *NAME in front"
                raise ValueError(msg)
        if self.optional and self.direction == "out":
            msg = f"the output {self.name} cannot be optional"
            raise ValueError(msg)


class Condition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a template is valid: a bound on one dim, and why."""

    dim: str
    why: str
    min: int | None = None
    max: int | None = None
    multiple_of: int | None = None

    def refusal(self, dims: Mapping[str, int]) -> str | None:
        """Why these dims break the condition, or None."""
        value = dims.get(self.dim)
        if value is None:
            return f"{self.dim} is not a dim of this task"
        broken = (
            (self.min is not None and value < self.min)
            or (self.max is not None and value > self.max)
            or (self.multiple_of is not None and value % self.multiple_of != 0)
        )
        return f"{self.dim} is {value}: {self.why}" if broken else None


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """One implementation with what it needs to be used."""

    id: str
    title: str
    language: Language
    family: Family
    op: str
    roles: tuple[Role, ...]
    text: str
    """The source, with its ``kbs:adapter`` block."""
    options: dict[str, tuple[Any, ...]] = msgspec.field(default_factory=dict)
    """Values of each option of the operation that the source implements."""
    valid: tuple[Condition, ...] = ()
    archs: tuple[str, ...] = ()
    """Architectures that it needs; empty for any of its language."""
    permits: tuple[Dtype, ...] = ()
    """Precisions that it computes in whatever the data types are: a task must permit them."""
    same_dtype: bool = False
    """Whether all floating inputs must have one data type."""
    methods: tuple[str, ...] = ()
    """Methods of the wiki that it embodies."""
    measured: tuple[dict[str, Any], ...] = ()
    sources: tuple[Source, ...] = ()
    citation: Citation

    @property
    def inputs(self) -> tuple[Role, ...]:
        """Roles that are read."""
        return tuple(role for role in self.roles if role.direction == "in")

    @property
    def outputs(self) -> tuple[Role, ...]:
        """Roles that are written."""
        return tuple(role for role in self.roles if role.direction == "out")

    def refusals(
        self, dims: Mapping[str, int], arch: str, permitted: Collection[str] = ()
    ) -> tuple[str, ...]:
        """Why it is not valid here; empty when it is."""
        found = [text for one in self.valid if (text := one.refusal(dims)) is not None]
        if arch and self.archs and arch not in self.archs:
            found.append(f"it needs {' or '.join(self.archs)}, not {arch}")
        found += [f"it needs --permit {one}" for one in self.permits if one not in permitted]
        return tuple(found)


def unify(
    shape: tuple[str, ...], actual: tuple[int, ...], dims: Mapping[str, int]
) -> dict[str, int] | None:
    """``dims`` with what ``shape`` learns from ``actual``; None where they do not fit."""
    found = dict(dims)
    rest = list(actual)
    names = list(shape)
    if names and names[0].startswith("*"):
        lead = len(rest) - (len(names) - 1)
        if lead < 0:
            return None
        count = 1
        for size in rest[:lead]:
            count *= size
        rest = [count, *rest[lead:]]
        names = [names[0][1:], *names[1:]]
    if len(names) != len(rest):
        return None
    for name, size in zip(names, rest, strict=True):
        wanted = int(name) if name.isdigit() else found.setdefault(name, size)
        if wanted != size:
            return None
    return found
