"""Landlock: a candidate may write only in its own folder and to the devices that it needs.

Reading is not restricted here: a candidate needs the Python installation and the driver's
files, and nothing secret lies in a file.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence
from pathlib import Path

from kbs_backends.device.kernel_calls import syscall

_WRITE_FILE = 1 << 1
_WRITES_V1 = _WRITE_FILE | sum(1 << bit for bit in range(4, 13))
"""write, remove and make of every kind (linux/landlock.h, ABI 1)."""
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_VERSION = 1
_PATH_BENEATH = 1


def restrict_writes(paths: Sequence[Path]) -> int:
    """Deny writing outside of ``paths`` from now on; the ABI version that is in force.

    Needs no_new_privs. OSError where the kernel has no Landlock.
    """
    abi = syscall("landlock_create_ruleset", None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    handled = _WRITES_V1 | (_REFER if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0)  # noqa: PLR2004
    attribute = ctypes.create_string_buffer(struct.pack("<Q", handled), 8)
    ruleset = syscall("landlock_create_ruleset", attribute, ctypes.c_size_t(8), ctypes.c_uint32(0))
    try:
        for path in paths:
            if path.is_dir():
                _allow(ruleset, path, handled)
            elif path.exists():
                _allow(ruleset, path, handled & (_WRITE_FILE | _TRUNCATE))
        syscall("landlock_restrict_self", ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
    return abi


def _allow(ruleset: int, path: Path, rights: int) -> None:
    handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = ctypes.create_string_buffer(struct.pack("<Qi", rights, handle), 12)
        syscall("landlock_add_rule", ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule,
                ctypes.c_uint32(0))  # fmt: skip
    finally:
        os.close(handle)
