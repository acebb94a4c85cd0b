"""Names of parts: each stands for one part, or is called ambiguous on every page that has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from kbs_ingest.wiki.faults import Faults
from kbs_ingest.wiki.hardware import HardwareFront, SpecPage
from kbs_ingest.wiki.names import normalise


class _Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One page that takes one name for itself."""

    owner: str
    field: str
    name: str
    where: str


def check_names(pages: Mapping[str, SpecPage], faults: Faults) -> None:
    """Faults for names that stand twice, belong to two parts, or are called ambiguous."""
    claims: dict[str, list[_Claim]] = {}
    for id_, page in sorted(pages.items()):
        own: set[str] = set()
        for claim in _claims(id_, page):
            key = normalise(claim.name)
            if claim.field == "aliases" and key in own:
                faults.add(claim.where, f"the alias {claim.name!r} stands twice", "remove one")
            if claim.field == "aliases":
                own.add(key)
            claims.setdefault(key, []).append(claim)
    for found in claims.values():
        _check_owners(found, faults)
    for page in pages.values():
        _check_ambiguous(page, claims, faults)


def _claims(id_: str, page: SpecPage) -> Iterator[_Claim]:
    head = page.front
    if not isinstance(head, HardwareFront):
        return
    at = page.part.at
    yield _Claim(owner=id_, field="id", name=id_, where=at("id"))
    yield _Claim(owner=id_, field="name", name=head.name, where=at("name"))
    for number, alias in enumerate(head.aliases):
        yield _Claim(owner=id_, field="aliases", name=alias, where=at("aliases", number))


def _check_owners(claims: list[_Claim], faults: Faults) -> None:
    """The first id or name keeps it, else the first alias; the others are told where that is."""
    keeper = min(claims, key=lambda claim: claim.field == "aliases")
    for claim in claims:
        if claim.owner != keeper.owner:
            faults.add(
                claim.where,
                f"{claim.name!r} names {keeper.owner} already: {keeper.field} at {keeper.where}",
                "keep it on one page; where several parts share it, list it as ambiguous on each",
            )


def _check_ambiguous(page: SpecPage, claims: Mapping[str, list[_Claim]], faults: Faults) -> None:
    head = page.front
    if not isinstance(head, HardwareFront):
        return
    for number, name in enumerate(head.ambiguous):
        for claim in claims.get(normalise(name), ())[:1]:
            faults.add(
                page.part.at("ambiguous", number),
                f"{name!r} is called ambiguous and names {claim.owner}: "
                f"{claim.field} at {claim.where}",
                "take it out of the aliases",
            )
