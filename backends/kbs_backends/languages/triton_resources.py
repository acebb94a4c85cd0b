"""Registers, spills and shared memory of Triton kernels, as their assemblers say."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from kbs_backends.languages.amdgcn_metadata import amd_resources
from kbs_backends.languages.nvcc import resources_of
from kbs_backends.languages.triton_launches import Launched
from kbs_backends.run_tool import run_tool
from kbs_engine.results import KernelResources

_TARGET = re.compile(r"^\.target\s+(sm_\w+)", re.MULTILINE)


def of_ptx(kernel: Launched, arch: str, threads: int, work: Path) -> KernelResources:
    """Assemble the PTX once more with ``-v``: the cubin does not hold spill counts.

    The same ptxas and options as Triton's are used, so the numbers are those of its cubin.
    """
    from triton.backends.nvidia.compiler import get_ptxas

    text = str(kernel.asm["ptx"])
    target = _TARGET.search(text)
    number = int(re.sub(r"\D", "", arch))
    source = work / "resources.ptx"
    source.write_text(text, encoding="utf-8")
    command = (
        str(get_ptxas(number).path), "-lineinfo", "-v", "--regAllocOptLevel=2",
        f"--gpu-name={target.group(1) if target else arch}",
        str(source), "-o", str(work / "resources.o"),
    )  # fmt: skip
    run = run_tool(command, timeout_s=300)
    if not run.ok and "regAllocOptLevel" in run.stderr:
        run = run_tool([part for part in command if "regAlloc" not in part], timeout_s=300)
    found = {row.kernel: row for row in resources_of(run.stderr + run.stdout, {})}
    row = found.get(kernel.name)
    return KernelResources(
        kernel=kernel.name,
        registers=row.registers if row else None,
        spill_store_bytes=row.spill_store_bytes if row else None,
        spill_load_bytes=row.spill_load_bytes if row else None,
        stack_bytes=row.stack_bytes if row else None,
        shared_bytes=kernel.shared_bytes,
        threads_per_block=threads,
    )


def of_amdgcn(kernel: Launched, threads: int) -> KernelResources:
    """By the metadata of the assembly; threads and LDS are those of the launch."""
    found = {row.kernel: row for row in amd_resources(str(kernel.asm["amdgcn"]))}
    row = found.get(kernel.name, KernelResources(kernel=kernel.name))
    return msgspec.structs.replace(row, shared_bytes=kernel.shared_bytes, threads_per_block=threads)
