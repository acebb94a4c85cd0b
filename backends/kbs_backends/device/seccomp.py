"""A seccomp filter that asks the owner about every dangerous system call of a candidate.

The filter is a classic BPF program. What is harmless runs at full speed; fork, signals to
others, network, tracing and reading of other processes stop the caller until the owner has
answered (``supervisor``). clone3 is answered with ENOSYS, so that libc falls back to clone,
whose flags can be read.
"""

from __future__ import annotations

import ctypes
import struct

from kbs_backends.device.kernel_calls import audit_arch, numbers, syscall

_ALLOW = 0x7FFF0000
_ASK = 0x7FC00000
_ENOSYS = 0x00050000 | 38
_KILL = 0x80000000
_LOAD, _JUMP_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x45, 0x06
_NR, _ARCH, _ARG0 = 0, 4, 16
"""Offsets in struct seccomp_data (linux/seccomp.h); arguments are read as low words."""
_CLONE_THREAD = 0x10000
_AF_UNIX = 1
_NEW_LISTENER = 1 << 3
_MODE_FILTER = 1

ASKED = (
    "fork", "vfork", "ptrace", "mount", "unshare", "setns", "perf_event_open",
    "process_vm_readv", "process_vm_writev", "bpf", "userfaultfd", "pidfd_send_signal",
    "io_uring_setup", "pidfd_getfd", "tkill",
)  # fmt: skip
"""Asked about whatever their arguments are."""
SIGNALS = ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
"""Asked about unless they are for the process itself."""


def program(own_pid: int) -> list[tuple[int, int, int, int]]:
    """The filter as (code, jump if true, jump if false, operand)."""
    known = numbers()
    out = [
        (_LOAD, 0, 0, _ARCH),
        (_JUMP_EQUAL, 1, 0, audit_arch()),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NR),
    ]

    def on(name: str, *steps: tuple[int, int, int, int]) -> None:
        if name in known:
            out.append((_JUMP_EQUAL, 0, len(steps), known[name]))
            out.extend(steps)

    on("clone3", (_RETURN, 0, 0, _ENOSYS))
    for name in ASKED:
        on(name, (_RETURN, 0, 0, _ASK))
    argument = (_LOAD, 0, 0, _ARG0)
    allow, ask = (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ASK)
    on("clone", argument, (_JUMP_SET, 0, 1, _CLONE_THREAD), allow, ask)
    for name in SIGNALS:
        on(name, argument, (_JUMP_EQUAL, 0, 1, own_pid), allow, ask)
    on("socket", argument, (_JUMP_EQUAL, 0, 1, _AF_UNIX), allow, ask)
    out.append(allow)
    return out


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def install(own_pid: int) -> int:
    """Install the filter for this process and what it starts; the listener's descriptor.

    Needs no_new_privs. OSError where the kernel or a container does not allow it.
    """
    steps = program(own_pid)
    code = b"".join(struct.pack("<HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(code, len(code))
    loaded = _Program(len(steps), ctypes.cast(buffer, ctypes.c_void_p))
    return syscall("seccomp", _MODE_FILTER, _NEW_LISTENER, ctypes.byref(loaded))
