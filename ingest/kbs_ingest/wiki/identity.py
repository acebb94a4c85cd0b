"""Whether a hardware page's folder, vendor, target, limits and capability name one part."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from kbs_engine.facts import Spec
from kbs_ingest.wiki.faults import Faults
from kbs_ingest.wiki.hardware import HardwareFront, LimitsFront, SpecPage

SAYS = "identity: "
"""How these faults begin."""
_VENDORS = ("nvidia", "amd")
_SM = re.compile(r"sm_(\d+)(\d)[af]?")
_LIMITS = re.compile(r"cc_(\d+)_(\d+)|(gfx[0-9a-f]+)")


def check_identity(pages: Mapping[str, SpecPage], faults: Faults) -> None:
    """A fault for each part of a page's identity that contradicts its compiler target."""
    for page in pages.values():
        head = page.front
        if not isinstance(head, HardwareFront | LimitsFront):
            continue
        folders = PurePosixPath(page.citation.path).parts[:-1]
        folder = folders[-1] if folders else ""
        if folder in _VENDORS and folder != head.vendor:
            faults.add(
                page.part.at("vendor"),
                f"{SAYS}vendor is {head.vendor}, the page lies in {'/'.join(folders)}/",
                "move the page, or correct the vendor",
            )
        if head.arch:
            _check_target(page, head, pages, faults)


def _check_target(
    page: SpecPage,
    head: HardwareFront | LimitsFront,
    pages: Mapping[str, SpecPage],
    faults: Faults,
) -> None:
    """The limits page, its own or the inherited one, and the rows against ``arch``."""
    target = _core(head.arch)
    named = head.id if isinstance(head, LimitsFront) else head.inherits or ""
    limits = _LIMITS.fullmatch(named)
    stated = limits and _core(limits[3] or f"sm_{limits[1]}{limits[2]}")
    other = pages.get(named)
    if not stated and other is not None and isinstance(other.front, LimitsFront):
        stated = _core(other.front.arch)
    if stated and stated != target:
        field = "id" if isinstance(head, LimitsFront) else "inherits"
        faults.add(
            page.part.at(field),
            f"{SAYS}{field} is {named}, the limits of {stated}, and arch is {head.arch}",
            "correct the one that is wrong",
        )
    for spec in page.specs:
        wanted = _row_target(spec)
        if wanted and wanted != target:
            faults.add(
                f"{spec.citation.path}:{spec.citation.line}",
                f"{SAYS}{spec.metric} is {spec.value}, the target {wanted}, "
                f"and arch is {head.arch}",
                "correct the one that is wrong",
            )


def _core(arch: str) -> str:
    """The target without the letter of its feature set: sm_90a is sm_90."""
    found = _SM.fullmatch(arch)
    return f"sm_{found[1]}{found[2]}" if found else arch


def _row_target(spec: Spec) -> str:
    """The target that a row names, or an empty string."""
    if spec.metric == "compute_capability" and isinstance(spec.value, float):
        return f"sm_{round(spec.value * 10)}"
    if spec.metric == "gfx_target" and isinstance(spec.value, str):
        return spec.value
    return ""
