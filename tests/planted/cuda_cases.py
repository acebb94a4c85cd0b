"""The planted CUDA C++ cases: compiles kernels/*.cu, loads them with ctypes, lists the cases."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cuda_inputs
import cuda_inputs_latency
import cuda_inputs_pairs
from case import Case, Prepared

KERNELS = Path(__file__).resolve().parent / "kernels"
FLAGS = ("-std=c++17", "-O3", "-lineinfo", "-Xcompiler", "-fPIC", "--shared")
ARCH = os.environ.get("KBS_PLANTED_ARCH", "sm_90a")

_state: dict[str, Any] = {"folder": KERNELS.parent / "build", "libraries": {}}


def build(lib: Path) -> dict[str, str]:
    """Compile every kernels/*.cu into one shared library each under the folder ``lib``.

    Returns the compiler's words for each file that failed; the others are usable.
    A library newer than its sources is kept.  Raises FileNotFoundError without nvcc.
    """
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise FileNotFoundError("nvcc is not on PATH; the planted CUDA kernels need it to compile")
    lib.mkdir(parents=True, exist_ok=True)
    use_build(lib)
    sources = sorted(KERNELS.glob("*.cu"))
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        answers = pool.map(lambda source: _compile(nvcc, source, lib), sources)
        return {source.name: text for source, text in zip(sources, answers, strict=True) if text}


def _compile(nvcc: str, source: Path, folder: Path) -> str:
    """Compile one file; the empty string when it worked, else the compiler's words."""
    target = folder / f"{source.stem}.so"
    newest = max(path.stat().st_mtime for path in (source, *KERNELS.glob("*.cuh")))
    if target.exists() and target.stat().st_mtime > newest:
        return ""
    partial = target.with_suffix(".part.so")
    command = [nvcc, *FLAGS, f"-arch={ARCH}", "-o", str(partial), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return (done.stderr or done.stdout).strip() or f"nvcc returned {done.returncode}"
    partial.replace(target)
    return ""


def use_build(folder: Path) -> None:
    """Take the libraries from ``folder`` (where ``build`` put them)."""
    _state["folder"] = Path(folder)
    _state["libraries"] = {}


def _library(name: str) -> ctypes.CDLL:
    """The loaded library of a case; FileNotFoundError where it was not built."""
    path = _state["folder"] / f"{name}.so"
    if not path.exists():
        raise FileNotFoundError(f"{path}: not built; call build({path.parent}) and read its answer")
    loaded: dict[str, ctypes.CDLL] = _state["libraries"]
    if name not in loaded:
        loaded[name] = ctypes.CDLL(str(path))
    return loaded[name]


def _launcher(name: str, entry: str, buffers: list[Any], sizes: list[int]) -> Callable[[], None]:
    """A call of ``kNNN_<entry>(buffers..., sizes..., stream)`` on torch's current stream."""
    import torch

    function = getattr(_library(name), f"{name.split('_', 1)[0]}_{entry}")
    function.restype = ctypes.c_int
    pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in buffers]
    numbers = [ctypes.c_longlong(size) for size in sizes]

    def launch() -> None:
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        code = function(*pointers, *numbers, stream)
        if code != 0:
            raise RuntimeError(f"{name} {entry}: CUDA error {code} at launch")

    return launch


def _prepare(name: str, spec: cuda_inputs.Spec) -> Prepared:
    """Allocate a case's tensors and bind its launchers."""
    import torch

    data = spec.make(torch)
    return Prepared(
        run=_launcher(name, "run", data.buffers, data.sizes),
        outputs=lambda: list(data.outputs),
        fixes={fix: _launcher(name, fix, data.buffers, data.sizes) for fix in spec.fixes},
        reference=data.reference,
        rtol=spec.rtol,
        atol=spec.atol,
    )


def _case(name: str, spec: cuda_inputs.Spec) -> Case:
    return Case(name, lambda: _prepare(name, spec), spec.kernels_per_run)


SPECS: dict[str, cuda_inputs.Spec] = {
    **cuda_inputs.SPECS,
    **cuda_inputs_latency.SPECS,
    **cuda_inputs_pairs.SPECS,
}
CASES: list[Case] = [_case(name, spec) for name, spec in SPECS.items()]
