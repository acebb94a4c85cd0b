"""The tables of GPUs and limits in gpu-wiki/README.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kbs_ingest.wiki.faults import Faults
from kbs_ingest.wiki.hardware import HardwareFront, LimitsFront, SpecPage
from kbs_ingest.wiki.load import list_wiki
from kbs_ingest.wiki.model import Wiki
from kbs_ingest.wiki.rootreader import RootReader
from tools.coverage_hardware import chips_in_order, open_rows
from tools.markdown_table import code, table

_VENDORS = ("nvidia", "amd")


def pages_of(root: Path) -> dict[str, SpecPage]:
    """Read the pages of specs of one root, limits among them; faults are told by `load_wiki`."""
    reader = RootReader(Faults())
    for file in list_wiki([root]):
        if file.path.startswith("hardware/"):
            reader.read(file)
    return reader.pages


def gpus_table(wiki: Wiki, pages: dict[str, SpecPage]) -> str:
    """One row a chip, NVIDIA first."""
    rows = []
    for page in chips_in_order(wiki):
        chip = page.chip
        front = pages[chip.id].front
        parent = front.inherits if isinstance(front, HardwareFront) else None
        rows.append(
            (
                f"[`{chip.id}`]({chip.citation.path})",
                chip.name,
                chip.architecture,
                f"`{chip.arch}`",
                f"`{parent}`" if parent else "",
                ", ".join(page.ambiguous),
                open_rows(chip),
            )
        )
    header = ("Page", "Part", "Architecture", "Target", "Limits", "Ambiguous names", "Open")
    return table(header, rows)


def limits_table(pages: dict[str, SpecPage]) -> str:
    """One row a page of limits, with the chips that take them over."""
    chips = [page.front for page in pages.values() if isinstance(page.front, HardwareFront)]
    limits = [
        (page.front, page.citation.path)
        for page in pages.values()
        if isinstance(page.front, LimitsFront)
    ]
    rows = [
        (f"[`{front.id}`]({path})", front.name, f"`{front.arch}`", _heirs(front.id, chips))
        for front, path in sorted(
            limits, key=lambda pair: (_VENDORS.index(pair[0].vendor), pair[0].id)
        )
    ]
    return table(("Page", "Covers", "Target", "Inherited by"), rows)


def _heirs(id_: str, chips: Sequence[HardwareFront]) -> str:
    return code(sorted(chip.id for chip in chips if chip.inherits == id_))
