"""Cross-compile the marked Triton kernels of a file: `compile_triton.py FILE ARCH`.

Prints their assembly, one after the other.
"""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import triton
from probe_marks import Mark, marks_of
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

WAVE_SIZE = {"gfx1100": 32, "gfx1201": 32}
"""RDNA waves have 32 lanes, all other AMD targets here 64."""


def target_of(arch: str) -> GPUTarget:
    """Return Triton's target for a compiler target such as sm_90a or gfx942."""
    if arch.startswith("gfx"):
        return GPUTarget("hip", arch, WAVE_SIZE.get(arch, 64))
    return GPUTarget("cuda", int(arch.removeprefix("sm_").rstrip("af")), 32)


def assemblies(path: Path, arch: str) -> list[str]:
    """Compile every marked kernel of a file."""
    marks = marks_of(path.read_text())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        msg = f"{path} cannot be imported"
        raise ImportError(msg)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [_assembly(getattr(module, mark[0]), mark, target_of(arch)) for mark in marks]


def _assembly(kernel: Any, mark: Mark, target: GPUTarget) -> str:
    """Compile one kernel; pointers count as 16-byte aligned, as a launch would find them."""
    _, arguments, options = mark
    types: dict[str, str] = {}
    constants: dict[tuple[int, ...], Any] = {}
    aligned: dict[tuple[int, ...], Any] = {}
    for index, argument in enumerate(kernel.arg_names):
        value = arguments[argument]
        if not isinstance(value, str):
            types[argument] = "constexpr"
            constants[(index,)] = value
            continue
        types[argument] = value.removesuffix(":16")
        if value.startswith("*") or value.endswith(":16"):
            aligned[(index,)] = [["tt.divisibility", 16]]
    source = ASTSource(fn=kernel, signature=types, constexprs=constants, attrs=aligned)
    compiled = triton.compile(source, target=target, options=options or None)
    return str(compiled.asm["amdgcn" if target.backend == "hip" else "ptx"])


if __name__ == "__main__":
    sys.stdout.write("".join(assemblies(Path(sys.argv[1]), sys.argv[2])))
