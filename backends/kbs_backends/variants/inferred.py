"""Tunables of a source whose author marked none: launch and tile constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kbs_backends.variants.ranges import launch_values, thread_values
from kbs_backends.variants.records import Binding, Tunable, Value
from kbs_backends.variants.sites import OWN_PREFIX, Sites, TunableSite

_LAUNCH_OPTIONS = frozenset({"num_warps", "num_stages"})


def infer(bindings: Iterable[Binding], marked: Sites, *, python: bool) -> tuple[TunableSite, ...]:
    """Return tunables that no mark names.

    None where the author marked any: then the marks say what may vary. Constants that a
    mechanical rewrite put in (``KBS_…``) do not count as the author's.
    """
    names = {site.tunable.name for site in marked.tunables}
    if any(not name.startswith(OWN_PREFIX) for name in names):
        return ()
    taken = {place.start for site in marked.tunables for place in site.places}
    taken |= {site.place.start for site in marked.switches}
    ranges = _python_values if python else _cuda_values
    found = [
        (binding, values)
        for binding in bindings
        if binding.start not in taken and len(values := ranges(binding)) > 1
    ]
    return _named(found)


def _python_values(binding: Binding) -> tuple[Value, ...]:
    if binding.name.startswith(OWN_PREFIX):
        return (binding.value,)
    if binding.name in _LAUNCH_OPTIONS and binding.form != "keyword":
        return (binding.value,)
    if binding.form == "default" and not binding.within_kernel:
        return (binding.value,)
    return launch_values(binding.name, binding.value)


def _cuda_values(binding: Binding) -> tuple[Value, ...]:
    if binding.form == "argument":
        return thread_values("block", binding.value)
    return thread_values(binding.name, binding.value)


def _named(found: list[tuple[Binding, tuple[Value, ...]]]) -> tuple[TunableSite, ...]:
    """Give every place a name of its own: plain, else with its scope, else numbered too."""
    repeated = _repeated(binding.name for binding, _ in found)
    labels = [
        _scoped(binding) if binding.name in repeated else binding.name for binding, _ in found
    ]
    seen: Counter[str] = Counter()
    sites = []
    for label, (binding, values) in zip(labels, found, strict=True):
        seen[label] += 1
        numbered = f"{label}#{seen[label]}" if seen[label] > 1 else label
        sites.append(_site(numbered, binding, values))
    return tuple(sites)


def _scoped(binding: Binding) -> str:
    return f"{binding.scope}.{binding.name}" if binding.scope else binding.name


def _repeated(names: Iterable[str]) -> set[str]:
    return {name for name, times in Counter(names).items() if times > 1}


def _site(name: str, binding: Binding, values: tuple[Value, ...]) -> TunableSite:
    tunable = Tunable(
        name=name, line=binding.line, current=binding.value, values=values, kind="inferred"
    )
    return TunableSite(tunable=tunable, places=(binding,))
