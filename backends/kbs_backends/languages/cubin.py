"""What the ELF of a cubin says of its kernels: launch bounds, by the .nv.info sections.

Layout: ELF64 section headers; ``.nv.info.<kernel>`` holds records of format (1 byte),
attribute (1 byte) and, for format 4, a 16-bit size before the payload, else 16 bits of value.
Attribute 0x05 is the launch bound as three 32-bit extents (as ``cuobjdump -elf`` prints it,
EIATTR_MAX_THREADS).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kbs_engine.results import KernelResources

_MAX_THREADS = 0x05
_SIZED = 0x04
_PREFIX = ".nv.info."
_TEXT, _SHARED = ".text.", ".nv.shared."
_NO_CONTENT = 8  # SHT_NOBITS
_RECORD_HEADER = 4


def launch_bounds(cubin: Path) -> dict[str, int]:
    """Threads per block that ``__launch_bounds__`` allows, of kernels that have one."""
    found = {}
    for name, content in _sections(cubin.read_bytes()):
        if name.startswith(_PREFIX):
            threads = _max_threads(content)
            if threads is not None:
                found[name.removeprefix(_PREFIX)] = threads
    return found


class _Header(msgspec.Struct, frozen=True):
    name: str
    kind: int
    start: int
    size: int
    info: int


def _headers(data: bytes) -> Iterator[_Header]:
    """Section headers; nothing for what is no ELF64 or is cut short."""
    if data[:5] != b"\x7fELF\x02":
        return
    try:
        (offset,) = struct.unpack_from("<Q", data, 40)
        size, count, names_at = struct.unpack_from("<HHH", data, 58)
        rows = [
            struct.unpack_from("<IIQQQQII", data, offset + size * number) for number in range(count)
        ]
        names = data[rows[names_at][4] : rows[names_at][4] + rows[names_at][5]]
    except (struct.error, IndexError):
        return
    for name, kind, _, _, start, length, _, info in rows:
        word = names[name : names.find(b"\0", name)].decode(errors="replace")
        yield _Header(word, kind, start, length, info)


def _sections(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and content of every section that has content."""
    for header in _headers(data):
        if header.kind != _NO_CONTENT:
            yield header.name, data[header.start : header.start + header.size]


def _max_threads(content: bytes) -> int | None:
    position = 0
    while position + _RECORD_HEADER <= len(content):
        form, attribute, size = struct.unpack_from("<BBH", content, position)
        position += _RECORD_HEADER
        if form != _SIZED:
            continue
        if attribute == _MAX_THREADS and size == 12 and position + 12 <= len(content):  # noqa: PLR2004
            x, y, z = struct.unpack_from("<III", content, position)
            return int(x * y * z)
        position += size
    return None


def resources_in(cubin: Path) -> tuple[KernelResources, ...]:
    """Registers and shared memory per kernel, from ``.text.K``'s header and ``.nv.shared.K``.

    A cubin does not hold spills: they stay None. The register count stands in the upper byte
    of the section's ``sh_info`` (as ``cuobjdump -elf`` prints it).
    """
    headers = tuple(_headers(cubin.read_bytes()))
    shared = {h.name.removeprefix(_SHARED): h.size for h in headers if h.name.startswith(_SHARED)}
    bounds = launch_bounds(cubin)
    return tuple(
        KernelResources(
            kernel=name,
            registers=header.info >> 24,
            shared_bytes=shared.get(name, 0),
            threads_per_block=bounds.get(name),
        )
        for header in headers
        if header.name.startswith(_TEXT)
        for name in (header.name.removeprefix(_TEXT),)
    )
