"""What the wiki says about the chips and methods that records name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from kbs_engine.experience.quarantine import Physics, doubt, physics_of, same_arch
from kbs_engine.facts import Chip
from kbs_engine.methods import Method
from kbs_engine.outcomes import Outcome
from kbs_ingest.wiki.names import normalise

if TYPE_CHECKING:
    from kbs_ingest.wiki.model import Wiki

Task = tuple[str, str, str, str]
_ARCH: Final = re.compile(r"sm_\d{2,3}[af]?|gfx\d[0-9a-f]+", re.IGNORECASE)


class Lore:
    """Chips and methods by any of their names."""

    def __init__(
        self,
        chips: Iterable[Chip] = (),
        methods: Iterable[Method] = (),
        shared: Iterable[str] = (),
    ) -> None:
        """Keep them by normalised name; a name that several chips share names none.

        ``shared``: names that the wiki gives to several chips, as ``H100``.
        """
        self._shared = frozenset(map(normalise, shared))
        self._chips: dict[str, Chip | None] = {}
        for chip in chips:
            for name in {normalise(text) for text in (chip.id, chip.name, *chip.aliases)}:
                taken = name in self._chips and name != normalise(chip.id)
                self._chips[name] = None if taken else chip
        self._methods: dict[str, str] = {}
        self._archs = {chip.arch for chip in self._chips.values() if chip is not None}
        methods = list(methods)
        for method in methods:
            self._methods[normalise(method.title)] = method.id
        for method in methods:
            self._methods[normalise(method.id)] = method.id
        self._physics: dict[str, Physics | None] = {}
        self._names: dict[str, str] = {}
        self._known: dict[str, Chip | None] = {}

    @classmethod
    def of_wiki(cls, wiki: Wiki) -> Lore:
        """From parsed pages."""
        pages = list(wiki.chips.values())
        shared = [name for page in pages for name in page.ambiguous]
        return cls([page.chip for page in pages], list(wiki.methods.values()), shared)

    def chip(self, name: str) -> Chip | None:
        """The chip of this name, or None."""
        return self._chips.get(normalise(name))

    def _named(self, name: str) -> Chip | None:
        """``chip``, remembered: a log names few chips a million times."""
        if name not in self._known:
            self._known[name] = self.chip(name)
        return self._known[name]

    def arch(self, name: str) -> str | None:
        """The architecture of this name; ``sm_90`` is the one whose chips run ``sm_90a``."""
        key = name.strip().casefold()
        return next((arch for arch in (key, f"{key}a") if arch in self._archs), None)

    def physics(self, name: str) -> Physics | None:
        """What bounds kernels on the chip of this name; None when the wiki does not know it."""
        if name not in self._physics:
            chip = self.chip(name)
            self._physics[name] = None if chip is None else physics_of(chip)
        return self._physics[name]

    def method(self, name: str) -> str:
        """The wiki's id for a method, or the name as it is."""
        if name not in self._names:
            self._names[name] = self._methods.get(normalise(name), name)
        return self._names[name]

    def resolve(self, outcome: Outcome) -> Outcome:
        """The outcome under the wiki's names for its chip, architecture and method."""
        chip = self._named(outcome.chip)
        method = self.method(outcome.method)
        new_chip = chip.id if chip is not None else outcome.chip
        arch = outcome.arch
        if chip is not None and (not arch or same_arch(arch, chip.arch)):
            arch = chip.arch
        if (method, new_chip, arch) == (outcome.method, outcome.chip, outcome.arch):
            return outcome
        return msgspec.structs.replace(outcome, method=method, chip=new_chip, arch=arch)

    def doubt(self, outcome: Outcome, libraries: Mapping[Task, float]) -> str | None:
        """Why the (resolved) outcome is not believed, or None."""
        library = libraries.get(task_of(outcome)) if libraries and outcome.after_ns else None
        return doubt(outcome, self.physics(outcome.chip), library) or self._nowhere(outcome)

    def _nowhere(self, outcome: Outcome) -> str | None:
        """A chip that no page names, with no architecture that would place it, or None.

        An older log has no field for one: of a chip that it leaves empty nothing is claimed.
        """
        if not self._chips or outcome.device == "host" or self._is_name(outcome.chip):
            return None
        if outcome.arch:
            known = _ARCH.fullmatch(outcome.arch.strip())
            return None if known else f"{outcome.arch[:40]!r} is no architecture of a GPU"
        if not outcome.chip and not outcome.verified:
            return None
        return f"the wiki knows no chip {outcome.chip[:40]!r}, and the record names no arch"

    def _is_name(self, name: str) -> bool:
        """Whether any page calls a chip so, alone or among others."""
        return self._named(name) is not None or normalise(name) in self._chips.keys() | self._shared


def task_of(outcome: Outcome) -> Task:
    """What outcomes must share for one's library baseline to hold for another."""
    dims = msgspec.json.encode(outcome.dims, order="deterministic").decode() if outcome.dims else ""
    return outcome.kernel, outcome.chip, outcome.dtype or "", dims
