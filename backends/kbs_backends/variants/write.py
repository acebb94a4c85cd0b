"""Reading what can be varied, and writing a variant as a full file."""

from __future__ import annotations

from collections.abc import Mapping

from kbs_backends.variants.autotune import UNPINNED, pin_edits
from kbs_backends.variants.literals import same_type, spell_c, spell_python
from kbs_backends.variants.python_scan import parse
from kbs_backends.variants.records import (
    Binding,
    Edit,
    MarkError,
    Marks,
    Tunable,
    Value,
    apply_edits,
)
from kbs_backends.variants.scan import Scanned, scan
from kbs_backends.variants.sites import TunableSite
from kbs_engine.vocabulary import Language


def read_marks(text: str, language: Language, *, where: str = "source") -> Marks:
    """Return the tunables and method switches of a source.

    ``kbs:tunable`` and ``kbs:method`` marks come first. Launch and tile constants, and the
    configurations of ``@triton.autotune`` as ``kernel.config``, are offered as ``inferred``
    tunables unless the author marked some.

    Raises:
        MarkError: The source is not of its language, or a mark cannot be understood; ``where``
            names the file in its message.
    """
    scanned = scan(text, language, where)
    tunables = [site.tunable for site in (*scanned.marked.tunables, *scanned.inferred)]
    tunables += [one.tunable for one in scanned.autotuned if one.tunable is not None]
    switches = tuple(site.switch for site in scanned.marked.switches)
    return Marks(tunables=tuple(tunables), switches=switches)


def write_variant(
    text: str,
    language: Language,
    tunables: Mapping[str, Value],
    switches: Mapping[str, bool],
    *,
    where: str = "source",
) -> str:
    """Return the full source with these tunables (by name) and switches (by method id) set.

    Only the literals that change are rewritten; setting every value to what it is gives the
    same text, byte for byte. Where several constants carry one method all are switched.

    Raises:
        MarkError: No such tunable or method, a value of another type, or one that its mark does
            not list.
    """
    scanned = scan(text, language, where)
    edits: dict[int, Edit] = {}
    for name, value in tunables.items():
        for edit in _tunable_edits(text, scanned, name, value, where):
            edits[edit.start] = edit
    for method, on in switches.items():
        for edit in _switch_edits(text, scanned, method, on, where):
            edits[edit.start] = edit
    return apply_edits(text, list(edits.values()))


def _tunable_edits(text: str, scanned: Scanned, name: str, value: Value, where: str) -> list[Edit]:
    for pinned in scanned.autotuned:
        tunable = pinned.tunable
        if tunable is not None and tunable.name == name:
            _require(tunable, value, where)
            if value == UNPINNED:
                return []
            return pin_edits(pinned, int(value), parse(text, where), where)
    sites: dict[str, TunableSite] = {
        site.tunable.name: site for site in (*scanned.inferred, *scanned.marked.tunables)
    }
    site = sites.get(name)
    if site is None:
        known = ", ".join(sorted(sites)) or "it has none"
        raise MarkError(
            f"the source has no tunable {name}", where=where, remedy=f"its tunables: {known}"
        )
    _require(site.tunable, value, where)
    return [
        edit for place in site.places for edit in _set(text, place, value, python=scanned.python)
    ]


def _switch_edits(text: str, scanned: Scanned, method: str, on: bool, where: str) -> list[Edit]:
    places = [s.place for s in scanned.marked.switches if s.switch.method == method]
    if not places:
        known = ", ".join(sorted({s.switch.method for s in scanned.marked.switches}))
        raise MarkError(
            f"the source has no switch for {method}",
            where=where,
            remedy=f"its methods: {known or 'it has none'}",
        )
    edits = []
    for place in places:
        value = on if isinstance(place.value, bool) else int(on)
        edits += _set(text, place, value, python=scanned.python)
    return edits


def _require(tunable: Tunable, value: Value, where: str) -> None:
    place = f"{where}:{tunable.line}"
    if not same_type(value, tunable.current):
        raise MarkError(
            f"{tunable.name} is {tunable.current!r} and may not be {value!r}",
            where=place,
            remedy="give a value of the same type",
        )
    if tunable.kind == "mark" and value not in tunable.values:
        listed = ", ".join(map(str, tunable.values))
        raise MarkError(
            f"{tunable.name} may not be {value!r}", where=place, remedy=f"its mark lists {listed}"
        )


def _set(text: str, place: Binding, value: Value, *, python: bool) -> list[Edit]:
    if value == place.value:
        return []
    old = text.encode()[place.start : place.end].decode()
    spelled = spell_python(value, old) if python else spell_c(value, old)
    return [Edit(place.start, place.end, spelled)]
