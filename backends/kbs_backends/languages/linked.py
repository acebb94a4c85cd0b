"""Which libraries of kernels a compiled kernel calls, by the symbols that it leaves undefined."""

from __future__ import annotations

import struct
from pathlib import Path

from kbs_backends.languages.cubin import sections

_SYMBOL = struct.Struct("<IBBHQQ")
"""Elf64_Sym: name, info, other, section, value, size (System V ABI, "Symbol Table")."""
_PREFIXES = ("cublas", "cudnn", "cusparse", "cusolver", "cufft", "curand", "cutensor", "nccl",
             "npp", "_ZN2at", "_ZN5torch", "_ZNK2at", "_ZN3c10")  # fmt: skip


def library_calls(library: Path) -> tuple[str, ...]:
    """Names of undefined symbols that belong to libraries of kernels, sorted.

    A library that is opened while the kernel runs (``dlopen``) leaves no symbol.
    """
    found = dict(sections(library.read_bytes()))
    symbols, words = found.get(".dynsym", b""), found.get(".dynstr", b"")
    names = set()
    for entry in _SYMBOL.iter_unpack(symbols[: len(symbols) // _SYMBOL.size * _SYMBOL.size]):
        name, _, _, section, *_ = entry
        if section == 0:
            word = words[name : words.find(b"\0", name)].decode(errors="replace")
            if word.startswith(_PREFIXES):
                names.add(word)
    return tuple(sorted(names))
