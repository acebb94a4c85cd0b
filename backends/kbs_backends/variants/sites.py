"""Marks joined with the values they stand beside."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kbs_backends.variants.comments import Mark, read_mark
from kbs_backends.variants.literals import same_type
from kbs_backends.variants.records import Binding, Comment, MarkError, Switch, Tunable

OWN_PREFIX = "KBS_"
"""Names that a mechanical rewrite introduces begin so."""


class TunableSite(msgspec.Struct, frozen=True, kw_only=True):
    """A tunable and every place where its value stands."""

    tunable: Tunable
    places: tuple[Binding, ...]


class SwitchSite(msgspec.Struct, frozen=True, kw_only=True):
    """A switch and the place where its value stands."""

    switch: Switch
    place: Binding


class Sites(msgspec.Struct, frozen=True, kw_only=True):
    """All marked places of a source."""

    tunables: tuple[TunableSite, ...] = ()
    switches: tuple[SwitchSite, ...] = ()


def find_marked(bindings: Sequence[Binding], comments: Sequence[Comment], where: str) -> Sites:
    """Join every mark with the value on its line, or on the next where it stands alone.

    Raises:
        MarkError: A mark without a value to vary, with several and no name, or two marks for
            one name that disagree.
    """
    tunables: dict[str, TunableSite] = {}
    switches: list[SwitchSite] = []
    for comment in comments:
        mark = read_mark(comment, where)
        if mark is None:
            continue
        binding = _bound(mark, bindings, where)
        if mark.method:
            switches.append(_switch(mark, binding, where))
        else:
            site = _tunable(mark, binding, where)
            held = tunables.get(binding.name)
            tunables[binding.name] = site if held is None else _joined(held, site, where)
    return Sites(tunables=tuple(tunables.values()), switches=tuple(switches))


def _bound(mark: Mark, bindings: Sequence[Binding], where: str) -> Binding:
    line = mark.line
    if mark.alone:
        later = [binding.line for binding in bindings if binding.line > mark.line]
        line = mark.line + 1 if mark.line + 1 in later else 0
    found = [one for one in bindings if one.line == line and mark.name in {"", one.name}]
    if len(found) == 1:
        return found[0]
    word = f"kbs:{'method' if mark.method else 'tunable'}"
    if found:
        names = ", ".join(one.name for one in found)
        raise MarkError(
            f"{word} could mean {names}",
            where=f"{where}:{mark.line}",
            remedy=f"name one of them, such as: {word} {found[0].name}: …",
        )
    raise MarkError(
        f"{word} stands beside no literal value{f' of {mark.name}' if mark.name else ''}",
        where=f"{where}:{mark.line}",
        remedy="put it at the end of a line such as: NAME = 64, or of constexpr int NAME = 64;",
    )


def _switch(mark: Mark, binding: Binding, where: str) -> SwitchSite:
    if not isinstance(binding.value, bool | int) or binding.value not in (0, 1):
        raise MarkError(
            f"kbs:method {mark.method}: {binding.name} is {binding.value!r}, not on or off",
            where=f"{where}:{binding.line}",
            remedy="give the switch the value True or False (1 or 0 in C++)",
        )
    switch = Switch(
        method=mark.method, name=binding.name, line=binding.line, current=bool(binding.value)
    )
    return SwitchSite(switch=switch, place=binding)


def _tunable(mark: Mark, binding: Binding, where: str) -> TunableSite:
    for value in mark.values:
        if not same_type(value, binding.value):
            raise MarkError(
                f"kbs:tunable {binding.name} is {binding.value!r} and may not be {value!r}",
                where=f"{where}:{binding.line}",
                remedy="list values of the type that the constant has",
            )
    listed = ", ".join(map(str, mark.values))
    repeated = [value for at, value in enumerate(mark.values) if value in mark.values[:at]]
    if repeated:
        raise MarkError(
            f"kbs:tunable {binding.name} lists {repeated[0]!r} twice",
            where=f"{where}:{mark.line}",
            remedy="list every value once",
        )
    if binding.value not in mark.values:
        raise MarkError(
            f"kbs:tunable {binding.name} is {binding.value!r}, which its list lacks: {listed}",
            where=f"{where}:{mark.line}",
            remedy=f"write its own value too: kbs:tunable {binding.value}, {listed}",
        )
    tunable = Tunable(
        name=binding.name, line=binding.line, current=binding.value, values=mark.values
    )
    return TunableSite(tunable=tunable, places=(binding,))


def _joined(one: TunableSite, other: TunableSite, where: str) -> TunableSite:
    if (one.tunable.current, one.tunable.values) != (other.tunable.current, other.tunable.values):
        raise MarkError(
            f"kbs:tunable {one.tunable.name} is marked twice with different values",
            where=f"{where}:{other.tunable.line}",
            remedy=f"make it agree with line {one.tunable.line}, or use another name",
        )
    return TunableSite(tunable=one.tunable, places=(*one.places, *other.places))
