"""Linux calls that Python has no function for: prctl, capset, seccomp, landlock, close_range."""

from __future__ import annotations

import ctypes
import os
import platform
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

_X86 = {
    "socket": 41, "clone": 56, "fork": 57, "vfork": 58, "kill": 62, "ptrace": 101, "capset": 126,
    "rt_sigqueueinfo": 129, "mount": 165, "tkill": 200, "tgkill": 234, "unshare": 272,
    "rt_tgsigqueueinfo": 297, "perf_event_open": 298, "setns": 308, "process_vm_readv": 310,
    "process_vm_writev": 311, "seccomp": 317, "bpf": 321, "userfaultfd": 323,
    "pidfd_send_signal": 424, "io_uring_setup": 425, "clone3": 435, "pidfd_getfd": 438,
    "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446,
}  # fmt: skip
"""linux/arch/x86/entry/syscalls/syscall_64.tbl"""

_GENERIC = {
    "socket": 198, "clone": 220, "kill": 129, "ptrace": 117, "capset": 91,
    "rt_sigqueueinfo": 138, "mount": 40, "tkill": 130, "tgkill": 131, "unshare": 97,
    "rt_tgsigqueueinfo": 240, "perf_event_open": 241, "setns": 268, "process_vm_readv": 270,
    "process_vm_writev": 271, "seccomp": 277, "bpf": 280, "userfaultfd": 282,
    "pidfd_send_signal": 424, "io_uring_setup": 425, "clone3": 435, "pidfd_getfd": 438,
    "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446,
}  # fmt: skip
"""linux/include/uapi/asm-generic/unistd.h (aarch64)"""

_MACHINES = {"x86_64": (_X86, 0xC000003E), "aarch64": (_GENERIC, 0xC00000B7)}
"""System call numbers and the audit architecture (linux/audit.h)."""


def numbers() -> dict[str, int]:
    """System call numbers of this machine; empty where they are not known here."""
    return _MACHINES.get(platform.machine(), ({}, 0))[0]


def audit_arch() -> int:
    """The architecture word that seccomp sees."""
    return _MACHINES.get(platform.machine(), ({}, 0))[1]


def libc() -> Any:
    """The C library, with errno kept."""
    return ctypes.CDLL(None, use_errno=True)


def syscall(name: str, *arguments: Any) -> int:
    """Make a system call by name; OSError when it fails or is not known here."""
    number = numbers().get(name)
    if number is None:
        raise OSError(38, f"{name} is not known for {platform.machine()}")
    result = int(libc().syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return result


def prctl(option: int, value: int) -> None:
    """Prctl with one argument; OSError when it fails."""
    if libc().prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"prctl {option}: {os.strerror(error)}")


def drop_capabilities() -> None:
    """Give up every capability of this process, also what root has."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    syscall("capset", ctypes.byref(header), ctypes.byref(data))
