"""What the ELF of a cubin says of its kernels: launch bounds, by the .nv.info sections.

Layout: ELF64 section headers; ``.nv.info.<kernel>`` holds records of format (1 byte),
attribute (1 byte) and, for format 4, a 16-bit size before the payload, else 16 bits of value.
Attribute 0x05 is the launch bound and 0x10 the required block, as three 32-bit extents; 0x2f in
``.nv.info`` is a symbol index and its kernel's registers (``cuobjdump -elf`` prints them as
EIATTR_MAX_THREADS, EIATTR_REQNTID and EIATTR_REGCOUNT).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kbs_engine.results import KernelResources

_MAX_THREADS, _REQUIRED_THREADS, _REGISTERS = 0x05, 0x10, 0x2F
_SIZED = 0x04
_SYMBOL = 24
_PREFIX = ".nv.info."
_TEXT, _SHARED = ".text.", ".nv.shared."
_RESERVED, _RESERVED_BYTES = ".nv.shared.reserved.0", 1024
"""From sm_90 on the section counts in what CUDA keeps per block, and this one stands beside it."""
_NO_CONTENT = 8  # SHT_NOBITS
_RECORD_HEADER = 4


def launch_bounds(cubin: Path) -> dict[str, int]:
    """Threads per block that ``__launch_bounds__`` allows, of kernels that have one."""
    found = {}
    for name, content in sections(cubin.read_bytes()):
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
    for name, kind, _, _, start, length, *_ in rows:
        word = names[name : names.find(b"\0", name)].decode(errors="replace")
        yield _Header(word, kind, start, length)


def sections(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and content of every section that has content."""
    for header in _headers(data):
        if header.kind != _NO_CONTENT:
            yield header.name, data[header.start : header.start + header.size]


def _max_threads(content: bytes) -> int | None:
    for attribute, payload in _records(content):
        if attribute in (_MAX_THREADS, _REQUIRED_THREADS) and len(payload) == 12:  # noqa: PLR2004
            x, y, z = struct.unpack("<III", payload)
            return int(x * y * z)
    return None


def _records(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Attribute and payload of every record that has a payload."""
    position = 0
    while position + _RECORD_HEADER <= len(content):
        form, attribute, size = struct.unpack_from("<BBH", content, position)
        position += _RECORD_HEADER
        if form == _SIZED:
            yield attribute, content[position : position + size]
            position += size


def _register_counts(data: bytes) -> dict[str, int]:
    """Registers per thread by kernel."""
    found_sections = dict(sections(data))
    symbols, words = found_sections.get(".symtab", b""), found_sections.get(".strtab", b"")
    found = {}
    for attribute, payload in _records(found_sections.get(".nv.info", b"")):
        if attribute != _REGISTERS or len(payload) != 8:  # noqa: PLR2004 - index and count
            continue
        index, count = struct.unpack("<II", payload)
        entry = symbols[index * _SYMBOL : (index + 1) * _SYMBOL]
        if len(entry) == _SYMBOL:
            (name,) = struct.unpack_from("<I", entry)
            found[words[name : words.find(b"\0", name)].decode(errors="replace")] = count
    return found


def resources_in(cubin: Path) -> tuple[KernelResources, ...]:
    """Registers and shared memory per kernel; a cubin does not hold spills: they stay None."""
    data = cubin.read_bytes()
    headers = tuple(_headers(data))
    registers = _register_counts(data)
    reserved = _RESERVED_BYTES if any(h.name == _RESERVED for h in headers) else 0
    shared = {h.name.removeprefix(_SHARED): h.size for h in headers if h.name.startswith(_SHARED)}
    bounds = launch_bounds(cubin)
    return tuple(
        KernelResources(
            kernel=name,
            registers=registers.get(name),
            shared_bytes=max(0, shared.get(name, 0) - reserved),
            threads_per_block=bounds.get(name),
        )
        for header in headers
        if header.name.startswith(_TEXT)
        for name in (header.name.removeprefix(_TEXT),)
    )
