"""What a worker gives up before it loads a candidate, in the order in which it must happen."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from kbs_backends.device import kernel_calls, landlock, seccomp
from kbs_backends.device.messages import Limits


def harden(
    folder: Path,
    limits: Limits,
    *,
    sandbox: bool,
    limit_address_space: bool,
    hidden: Sequence[Path] = (),
) -> tuple[dict[str, str], int]:
    """Take rights away from this process; what is in force, and the seccomp listener or −1.

    A measure that the machine does not allow is told by name and reason: it is never silent.
    """
    found: dict[str, str] = {}
    _try(found, "death_with_parent",
         lambda: kernel_calls.prctl(kernel_calls.PR_SET_PDEATHSIG, signal.SIGKILL))  # fmt: skip
    _private_folder(folder)
    _try(found, "limits", lambda: _limit(limits, limit_address_space=limit_address_space))
    _try(found, "no_new_privileges",
         lambda: kernel_calls.prctl(kernel_calls.PR_SET_NO_NEW_PRIVS, 1))  # fmt: skip
    if not sandbox:
        found["sandbox"] = "off: switched off"
        return found, -1
    _try(found, "no_capabilities", kernel_calls.drop_capabilities)
    _try(found, "no_dump", lambda: kernel_calls.prctl(kernel_calls.PR_SET_DUMPABLE, 0))
    _try(
        found,
        "landlock",
        lambda: landlock.restrict(
            _writable(folder, host=limit_address_space), landlock.all_but(hidden)
        ),
    )
    return found, _try(found, "seccomp", lambda: seccomp.install(os.getpid()))


def _writable(folder: Path, *, host: bool) -> tuple[Path, ...]:
    """The private folder, the null device and, on a GPU, what its driver writes to."""
    devices = [Path("/dev/null"), Path("/dev/zero")]
    if not host:
        # the driver's devices and memory; it also names its threads, and gives up where it cannot
        devices += [*Path("/dev").glob("nvidia*"), Path("/proc/self/task")]
    return (folder, *devices)


def _try(found: dict[str, str], name: str, step: Callable[[], int | None]) -> int:
    try:
        result = step()
    except OSError as problem:
        found[name] = f"off: {problem.strerror or problem}"
        return -1
    found[name] = "on"
    return -1 if result is None else result


def _private_folder(folder: Path) -> None:
    """Own temporary folder and caches; nothing of another candidate can be found there."""
    os.chdir(folder)
    os.umask(0o077)
    for name in ("TMPDIR", "HOME", "XDG_CACHE_HOME"):
        os.environ[name] = str(folder)
    os.environ["TRITON_CACHE_DIR"] = str(folder / "triton")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "inductor")
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    import tempfile

    tempfile.tempdir = None


def _limit(limits: Limits, *, limit_address_space: bool) -> None:
    """Limits of the system: a CUDA context reserves too much address space to limit it."""
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: limits.cpu_s,
        resource.RLIMIT_FSIZE: limits.file_bytes,
    }
    if limit_address_space:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        used = pages * resource.getpagesize()
        wanted[resource.RLIMIT_AS] = used + limits.memory_bytes
    for name, value in wanted.items():
        hard = resource.getrlimit(name)[1]
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(name, (allowed, allowed))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
