"""Landlock: a candidate may write only in its own folder and to the devices that it needs.

It may read nearly everything, as it needs the Python installation and the driver's files, but
for the harness's own folders: there lie references and other candidates.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections.abc import Sequence
from pathlib import Path

from kbs_backends.device.kernel_calls import syscall

_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_WRITES_V1 = _WRITE_FILE | sum(1 << bit for bit in range(4, 13))
"""write, remove and make of every kind (linux/landlock.h, ABI 1)."""
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_VERSION = 1
_PATH_BENEATH = 1


def restrict(writable: Sequence[Path], readable: Sequence[Path]) -> int:
    """Deny writing outside of ``writable`` and reading outside of both from now on.

    Needs no_new_privs. OSError where the kernel has no Landlock.

    Returns:
        The ABI version that is in force.
    """
    abi = syscall("landlock_create_ruleset", None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    reads = _READ_FILE | _READ_DIR
    writes = _WRITES_V1 | (_REFER if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0)  # noqa: PLR2004
    attribute = ctypes.create_string_buffer(struct.pack("<Q", writes | reads), 8)
    ruleset = syscall("landlock_create_ruleset", attribute, ctypes.c_size_t(8), ctypes.c_uint32(0))
    try:
        for paths, rights in ((writable, writes | reads), (readable, reads)):
            for path in paths:
                if path.is_dir():
                    _allow(ruleset, path, rights)
                elif path.exists():
                    _allow(ruleset, path, rights & (_WRITE_FILE | _TRUNCATE | _READ_FILE))
        syscall("landlock_restrict_self", ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
    return abi


def all_but(hidden: Sequence[Path]) -> list[Path]:
    """What there is now outside of some folders: their neighbours, and those of their parents."""
    closed = {path for folder in hidden for path in (folder, *folder.parents)}
    opened = sorted({parent for folder in hidden for parent in folder.parents})
    found = []
    for parent in opened:
        with contextlib.suppress(PermissionError):  # what is not seen there is not opened either
            found += [
                path for path in parent.iterdir() if path not in closed and not path.is_symlink()
            ]  # what a link leads to is judged where it lies
    return found if opened else [Path("/")]


def _allow(ruleset: int, path: Path, rights: int) -> None:
    handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = ctypes.create_string_buffer(struct.pack("<Qi", rights, handle), 12)
        syscall("landlock_add_rule", ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule,
                ctypes.c_uint32(0))  # fmt: skip
    finally:
        os.close(handle)
