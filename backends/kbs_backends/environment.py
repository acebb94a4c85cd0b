"""What this machine has for measuring kernels, found by asking, not by guessing."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Literal

import msgspec

from kbs_backends.run_tool import ToolRun, run_tool

State = Literal["ok", "missing", "failed", "not_tried"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the environment."""

    part: str
    state: State
    detail: str
    costs: str = ""
    """What cannot be done without it."""
    remedy: str = ""


def find_gpus() -> Finding:
    """GPUs by nvidia-smi, else rocm-smi."""
    query = ("nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader")
    run = run_tool(query)
    if run.ok and run.stdout.strip():
        return Finding(part="GPU", state="ok", detail="; ".join(run.stdout.strip().splitlines()))
    amd = run_tool(("rocm-smi", "--showproductname"))
    if amd.ok and amd.stdout.strip():
        return Finding(part="GPU", state="ok", detail=" ".join(amd.stdout.split()))
    return Finding(
        part="GPU",
        state="missing" if run.code is None else "failed",
        detail=run.why(),
        costs="no kernel can be checked, timed or profiled here; reports are read all the same",
        remedy="run on a machine with a GPU and its driver",
    )


def find_tool(name: str, pattern: str, *, costs: str, remedy: str) -> Finding:
    """A command-line tool and its version."""
    run = run_tool((name, "--version"))
    if not run.ok:
        state: State = "missing" if shutil.which(name) is None else "failed"
        return Finding(part=name, state=state, detail=run.why(), costs=costs, remedy=remedy)
    found = re.search(pattern, run.stdout + run.stderr)
    return Finding(part=name, state="ok", detail=found.group(0) if found else "version unknown")


def find_package(name: str, *, costs: str) -> Finding:
    """A Python package, without importing it."""
    try:
        return Finding(part=name, state="ok", detail=metadata.version(name))
    except metadata.PackageNotFoundError:
        return Finding(
            part=name, state="missing", detail="not installed", costs=costs,
            remedy=f"pip install {name}",
        )  # fmt: skip


def find_cutlass() -> Finding:
    """CUTLASS headers: CUTLASS_PATH, CUTLASS_INCLUDE_DIR, or the nvidia-cutlass package."""
    for variable, below in (("CUTLASS_PATH", "include"), ("CUTLASS_INCLUDE_DIR", ".")):
        value = os.environ.get(variable)
        if value and (Path(value) / below / "cutlass" / "cutlass.h").is_file():
            return Finding(part="CUTLASS", state="ok", detail=f"{variable}={value}")
    if find_package("nvidia-cutlass", costs="").state == "ok":
        return Finding(part="CUTLASS", state="ok", detail="the nvidia-cutlass package")
    return Finding(
        part="CUTLASS",
        state="missing",
        detail="no headers in CUTLASS_PATH or CUTLASS_INCLUDE_DIR, no nvidia-cutlass package",
        costs="CUTLASS kernels cannot be compiled",
        remedy="pip install nvidia-cutlass, or set CUTLASS_PATH",
    )


_KERNEL = """\
__global__ void probe(int *p) { if (p) *p = 1; }
int main() { probe<<<1, 32>>>(nullptr); return cudaDeviceSynchronize() != cudaSuccess; }
"""


def read_counter(gpu: Finding, nvcc: Finding, ncu: Finding) -> Finding:
    """Read one real hardware counter: the only proof that profiling is permitted."""
    costs = "profiles cannot be taken; the counter-free mode claims less"
    for needed in (gpu, nvcc, ncu):
        if needed.state != "ok":
            return Finding(
                part="counter read", state="not_tried",
                detail=f"needs {needed.part}", costs=costs, remedy=needed.remedy,
            )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="kbs-probe-") as folder:
        run = _profile_probe(Path(folder))
    text = run.stdout + run.stderr
    if "ERR_NVGPUCTRPERM" in text:
        return Finding(
            part="counter read",
            state="failed",
            detail="the driver denies access to performance counters (ERR_NVGPUCTRPERM)",
            costs=costs,
            remedy="run as root, or set NVreg_RestrictProfilingToAdminUsers=0 for the nvidia "
            "module and reboot, or give the container --cap-add=SYS_ADMIN",
        )
    found = re.search(r"sm__cycles_active\.avg\W+cycle\W+([\d.,]+)", text)
    if not run.ok or not found:
        return Finding(
            part="counter read", state="failed", detail=run.why(), costs=costs,
            remedy="run `ncu` by hand on any CUDA program and read its message",
        )  # fmt: skip
    return Finding(part="counter read", state="ok", detail=f"sm__cycles_active {found.group(1)}")


def _profile_probe(folder: Path) -> ToolRun:
    source = folder / "probe.cu"
    source.write_text(_KERNEL, encoding="utf-8")
    built = run_tool(("nvcc", "-o", str(folder / "probe"), str(source)), timeout_s=120)
    if not built.ok:
        return built
    return run_tool(
        ("ncu", "--clock-control", "none", "--metrics", "sm__cycles_active.avg",
         str(folder / "probe")),
        timeout_s=120,
    )  # fmt: skip


def survey() -> tuple[Finding, ...]:
    """Everything that measuring needs, in the order in which it is needed."""
    gpu = find_gpus()
    nvcc = find_tool(
        "nvcc", r"release [\d.]+", costs="CUDA and CUTLASS kernels cannot be compiled",
        remedy="install the CUDA toolkit and put its bin folder on PATH",
    )  # fmt: skip
    ncu = find_tool(
        "ncu", r"Version [\d.]+", costs="no profile can be taken here",
        remedy="install Nsight Compute and put it on PATH",
    )  # fmt: skip
    return (
        gpu,
        nvcc,
        ncu,
        read_counter(gpu, nvcc, ncu),
        find_tool(
            "cuobjdump", r"release [\d.]+",
            costs="SASS is read with the copy that triton ships, where it is installed",
            remedy="install the CUDA toolkit, or pip install nvidia-cuda-cuobjdump",
        ),
        find_tool(
            "compute-sanitizer", r"[Vv]ersion [\d.]+",
            costs="champions are not checked for races and out-of-bounds accesses",
            remedy="install the CUDA toolkit and put its bin folder on PATH",
        ),
        find_tool(
            "rocprofv3", r"[\d.]+\d", costs="no profile can be taken on an AMD GPU",
            remedy="install ROCm; not needed on NVIDIA machines",
        ),
        find_cutlass(),
        find_package("nvidia-cutlass-dsl", costs="CuTe DSL kernels cannot be compiled"),
        find_package("torch", costs="references cannot be run"),
        find_package("triton", costs="Triton kernels cannot be compiled"),
        find_package("ncu-report", costs=".ncu-rep files cannot be read; export them as CSV"),
    )  # fmt: skip
