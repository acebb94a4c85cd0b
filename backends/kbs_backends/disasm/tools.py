"""Find and run the NVIDIA disassembler: nvdisasm of the toolkit, of a wheel, or of Triton."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

import msgspec


class DisassemblerFailure(msgspec.Struct, frozen=True, kw_only=True):
    """nvdisasm ran and failed: the command, its exit status and what it said."""

    command: tuple[str, ...]
    returncode: int
    stderr: str


def find_nvdisasm() -> Path | None:
    """Return nvdisasm from PATH, else from the nvidia-cuda-nvdisasm wheel, else Triton's own."""
    on_path = shutil.which("nvdisasm")
    if on_path is not None:
        return Path(on_path)
    for package, pattern in (
        ("nvidia", "cu*/bin/nvdisasm"),
        ("triton", "backends/nvidia/bin/nvdisasm"),
    ):
        spec = importlib.util.find_spec(package)
        for root in (spec.submodule_search_locations or ()) if spec is not None else ():
            for candidate in sorted(Path(root).glob(pattern)):
                return candidate
    return None


def disassemble_cubin(
    nvdisasm: Path, cubin: Path, timeout_s: float = 60.0
) -> str | DisassemblerFailure:
    """Return the SASS text of a cubin file, or the failure as a value."""
    command = (str(nvdisasm), "-c", str(cubin))
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    if done.returncode != 0:
        return DisassemblerFailure(command=command, returncode=done.returncode, stderr=done.stderr)
    return done.stdout
