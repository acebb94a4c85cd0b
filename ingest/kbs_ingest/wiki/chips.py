"""Pages of specs put together: inherited limits, measured ceilings, names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kbs_engine.facts import Chip, Spec
from kbs_ingest.wiki.checks import check_chip
from kbs_ingest.wiki.faults import Faults, near
from kbs_ingest.wiki.hardware import HardwareFront, MeasuredFront, SpecPage
from kbs_ingest.wiki.identity import check_identity
from kbs_ingest.wiki.model import ChipPage
from kbs_ingest.wiki.part_names import check_names


def build_chips(
    pages: Mapping[str, SpecPage],
    measured: Sequence[SpecPage],
    faults: Faults,
    lost: Collection[str] = (),
) -> dict[str, ChipPage]:
    """Chips by id, with own, inherited and measured specs; faults for names used twice.

    ``lost`` are pages that could not be read: what refers to them is not to blame.
    """
    chips = {}
    extra = _measured_by_chip(pages, measured, faults, lost)
    for id_, page in sorted(pages.items()):
        head = page.front
        if not isinstance(head, HardwareFront):
            continue
        specs = (*_with_inherited(page, pages, faults, lost), *extra.get(id_, ()))
        chip = Chip(
            id=id_,
            name=head.name,
            vendor=head.vendor,
            architecture=head.architecture,
            arch=head.arch,
            aliases=head.aliases,
            specs=specs,
            citation=page.citation,
        )
        chips[id_] = ChipPage(chip=chip, ambiguous=head.ambiguous, exceptions=page.exceptions)
        check_chip(chips[id_], faults)
    check_identity(pages, faults)
    check_names(pages, faults)
    return chips


def _measured_by_chip(
    pages: Mapping[str, SpecPage],
    measured: Sequence[SpecPage],
    faults: Faults,
    lost: Collection[str],
) -> dict[str, list[Spec]]:
    found: dict[str, list[Spec]] = {}
    known = {id_ for id_, page in pages.items() if isinstance(page.front, HardwareFront)}
    for page in measured:
        if not isinstance(page.front, MeasuredFront):
            continue
        if page.front.chip not in known and page.front.chip not in lost:
            faults.add(
                page.part.at("chip"),
                f"no chip {page.front.chip!r} in hardware/",
                near(page.front.chip, known) or "name a chip of hardware/",
            )
        found.setdefault(page.front.chip, []).extend(page.specs)
    return found


def _with_inherited(
    page: SpecPage, pages: Mapping[str, SpecPage], faults: Faults, lost: Collection[str]
) -> tuple[Spec, ...]:
    """Own specs, then those of the limits pages that the page does not state itself."""
    specs = list(page.specs)
    seen = {page.part.where}
    current = page
    while (parent_id := _parent(current)) is not None:
        parent = pages.get(parent_id)
        limits = {id_ for id_, other in pages.items() if other.front.kind == "limits"}
        if parent is None and parent_id in lost:
            break
        if parent is None or parent.front.kind != "limits":
            faults.add(
                current.part.at("inherits"),
                f"no limits page {parent_id!r}",
                near(parent_id, limits) or "name a page of kind limits, or leave it out",
            )
            break
        if parent.part.where in seen:
            faults.add(current.part.at("inherits"), "inherits itself", "cut the circle")
            break
        seen.add(parent.part.where)
        own = {_identity(spec) for spec in specs}
        chip = page.front.id
        specs.extend(_for_chip(spec, chip) for spec in parent.specs if _identity(spec) not in own)
        current = parent
    return tuple(specs)


def _parent(page: SpecPage) -> str | None:
    return None if isinstance(page.front, MeasuredFront) else page.front.inherits


def _identity(spec: Spec) -> tuple[object, ...]:
    basis = spec.basis
    return spec.metric, basis.density, basis.accumulate, basis.scope, spec.measured


def _for_chip(spec: Spec, chip: str) -> Spec:
    fields = {name: getattr(spec, name) for name in spec.__struct_fields__}
    return Spec(**{**fields, "chip": chip})
