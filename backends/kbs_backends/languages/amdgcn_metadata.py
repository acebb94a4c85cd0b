"""Registers, spills and LDS of AMD kernels, from the metadata at the end of their assembly."""

from __future__ import annotations

import re

from kbs_engine.results import KernelResources

_COUNT = r"^\s*(?:- )?\s*\.{}:\s*(\d+)"
REGISTER_BYTES = 4
_FIELDS = {
    "registers": "vgpr_count",
    "spilled": "vgpr_spill_count",
    "scratch": "private_segment_fixed_size",
    "shared": "group_segment_fixed_size",
    "threads": "max_flat_workgroup_size",
}


def amd_resources(text: str) -> tuple[KernelResources, ...]:
    """One record a kernel. Registers are vector registers; spills are bytes per lane.

    The text does not part spill stores from loads: both fields hold the spilled bytes.
    """
    _, _, metadata = text.partition("amdhsa.kernels:")
    return tuple(_kernel(part) for part in _parts(metadata))


def _parts(metadata: str) -> list[str]:
    """Entries of the list, which begin at the smallest indentation of a dash."""
    dashes = [len(hit.group(1)) for hit in re.finditer(r"^( *)- ", metadata, re.MULTILINE)]
    if not dashes:
        return []
    cut = re.compile(rf"^ {{{min(dashes)}}}- ", re.MULTILINE)
    return [part for part in cut.split(metadata)[1:] if ".symbol:" in part]


def _kernel(part: str) -> KernelResources:
    symbol = re.search(r"\.symbol:\s*'?([^\s']+?)(?:\.kd)?'?\s*$", part, re.MULTILINE)
    numbers = {}
    for name, field in _FIELDS.items():
        hit = re.search(_COUNT.format(field), part, re.MULTILINE)
        numbers[name] = int(hit.group(1)) if hit else None
    spilled = numbers["spilled"]
    spilled_bytes = None if spilled is None else spilled * REGISTER_BYTES
    return KernelResources(
        kernel=symbol.group(1) if symbol else "",
        registers=numbers["registers"],
        spill_store_bytes=spilled_bytes,
        spill_load_bytes=spilled_bytes,
        shared_bytes=numbers["shared"],
        stack_bytes=numbers["scratch"],
        threads_per_block=numbers["threads"],
    )
