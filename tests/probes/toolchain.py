"""Run the compilers that probes and page code need, and remember what they made.

The cache lies outside the repository and is addressed by content: a key holds the source, the
target and the versions of the tools, so nothing in it is ever stale.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile

from platformdirs import user_cache_path

from kbs_backends.disasm.tools import find_nvdisasm
from tests.probes.probe_marks import environment_of

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 300


class CompileError(RuntimeError):
    """A source that does not compile or disassemble: what, where, and the tool's own words."""


def run_tool(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> str:
    """Return what a tool printed; CompileError holds its error output."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        env=environment,
        cwd=folder,
    )
    if done.returncode != 0:
        msg = f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr or done.stdout}"
        raise CompileError(msg)
    return done.stdout


def gencode(arch: str) -> list[str]:
    """Return nvcc's options for machine code of one target and no PTX beside it.

    Plain `-arch=sm_90a` keeps PTX in the output too; this form holds what was asked alone.
    """
    return ["-std=c++17", "-gencode", f"arch=compute_{arch.removeprefix('sm_')},code={arch}"]


@cache
def cuda_version() -> str:
    """Return what nvcc and nvdisasm say of themselves."""
    nvdisasm = find_nvdisasm()
    reader = run_tool([str(nvdisasm), "--version"]) if nvdisasm is not None else ""
    return run_tool(["nvcc", "--version"]) + reader


@cache
def triton_version() -> str:
    """Return the version of Triton, which brings its own LLVM and ptxas."""
    import triton

    return f"triton {triton.__version__}"


def versions() -> dict[str, str]:
    """Return the version of each compiler at hand, as short numbers."""
    found = {"triton": triton_version().removeprefix("triton ")}
    if shutil.which("nvcc") is not None:
        found["nvcc"] = _short(run_tool(["nvcc", "--version"]))
    nvdisasm = find_nvdisasm()
    if nvdisasm is not None:
        found["nvdisasm"] = _short(run_tool([str(nvdisasm), "--version"]))
    return found


def _short(text: str) -> str:
    number = re.search(r"\bV(\d+(?:\.\d+)+)", text)
    return number[1] if number is not None else text.strip()


def content_key(*parts: str) -> str:
    """Return the address of what is made of these texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def cached_text(cache: Path, key: str, make: Callable[[], str]) -> str:
    """Return the text at an address, made if need be; several processes may do so at once."""
    stored = cache / f"{key}.s"
    if not stored.exists():
        text = make()
        cache.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", dir=cache, delete=False) as file:
            file.write(text)
        Path(file.name).replace(stored)
    return stored.read_text()


def compile_triton(path: Path, arch: str) -> str:
    """Cross-compile in a fresh process: a crash of LLVM must not end the tests."""
    script = Path(__file__).with_name("compile_triton.py")
    # Triton's own cache does not know of the switches
    switches = {"TRITON_ALWAYS_COMPILE": "1", **environment_of(path.read_text())}
    return run_tool([sys.executable, str(script), str(path), arch], {**os.environ, **switches})


def default_cache() -> Path:
    """Return the folder for compiled probes: KBS_PROBE_CACHE, else the user's cache folder."""
    named = os.environ.get("KBS_PROBE_CACHE")
    return Path(named) if named else user_cache_path("kbs") / "probes"


def jobs() -> int:
    """Return how many compilers may run at once: KBS_JOBS, else one per core."""
    return int(os.environ.get("KBS_JOBS", str(os.cpu_count() or 1)))
