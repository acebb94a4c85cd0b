"""Measure what read bandwidth a GPU reaches with few bytes in flight on each unit.

    python3 tools/measure_bytes_in_flight.py --out OUT

One 16-byte load per thread is outstanding at a time, so resident threads set the bytes in flight:
one block per unit holds up to 1024 threads (16 kB), two hold up to 2048 (32 kB).
Writes ``bytes_in_flight.json`` and prints one line a step. Clocks are left as found.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from kbs_backends.ceilings.gpu_state import environment, gpu_state
from kbs_backends.ceilings.timing import sample_ns

COMMAND = "python3 tools/measure_bytes_in_flight.py"
LOAD_BYTES = 16
STEPS = ((256, 1), (512, 1), (768, 1), (1024, 1), (768, 2), (1024, 2))
"""Threads of a block and blocks of a unit: 4, 8, 12, 16, 24 and 32 kB in flight."""
SOURCE = r"""
#include <cuda_runtime.h>
__global__ void read_stream(const uint4* __restrict__ x, unsigned* out, size_t n)
{
    unsigned all = 0;
    const size_t step = size_t(gridDim.x) * blockDim.x;
#pragma unroll 1
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        uint4 v;
        asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(x + i));
        all ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (all == 0x9e3779b9u) *out = all;
}
extern "C" int launch(const void* x, void* out, size_t n, int blocks, int threads, void* stream)
{
    read_stream<<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const uint4*>(x), static_cast<unsigned*>(out), n);
    return int(cudaGetLastError());
}
"""


def build(folder: Path, arch: str) -> ctypes.CDLL:
    """Compile the kernel with nvcc and load it."""
    source, library = folder / "stream.cu", folder / "libstream.so"
    source.write_text(SOURCE)
    command = ["nvcc", "-O3", f"-arch={arch}", "-shared", "-Xcompiler", "-fPIC"]
    subprocess.run([*command, "-o", str(library), str(source)], check=True)
    loaded = ctypes.CDLL(str(library))
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    loaded.launch.argtypes = [pointer, pointer, size, ctypes.c_int, ctypes.c_int, pointer]
    return loaded


def measure(torch: Any, library: ctypes.CDLL, mib: int) -> list[dict[str, Any]]:
    """Read a buffer far larger than L2 once per step, with the threads of that step."""
    units = torch.cuda.get_device_properties(0).multi_processor_count
    data = torch.randint(0, 2**31 - 1, (mib * 2**20 // 4,), dtype=torch.int32, device="cuda")
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    loads = data.numel() * data.element_size() // LOAD_BYTES
    stream = torch.cuda.current_stream().cuda_stream
    rows = []
    for threads, blocks in STEPS:

        def run(threads: int = threads, blocks: int = blocks) -> None:
            failed = library.launch(
                data.data_ptr(), out.data_ptr(), loads, units * blocks, threads, stream
            )
            if failed:
                msg = f"the launch of {units * blocks} x {threads} threads failed: error {failed}"
                raise RuntimeError(msg)

        sample = sample_ns(run)
        rows.append(
            {
                "threads_per_block": threads,
                "blocks_per_unit": blocks,
                "bytes_in_flight_per_unit": threads * blocks * LOAD_BYTES,
                "read_gb_per_s": loads * LOAD_BYTES / sample.median_ns,
                **sample.as_dict(),
            }
        )
    return rows


def main() -> int:
    """Build, measure, write and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the JSON")
    parser.add_argument("--mib", type=int, default=1024, help="size of the buffer in MiB")
    options = parser.parse_args()
    import torch

    major, minor = torch.cuda.get_device_capability()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(torch, build(Path(folder), f"sm_{major}{minor}"), options.mib)
    found = {
        "environment": environment(COMMAND),
        "after": gpu_state(),
        "mib": options.mib,
        "steps": rows,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "bytes_in_flight.json").write_text(json.dumps(found, indent=2) + "\n")
    for row in rows:
        kib = row["bytes_in_flight_per_unit"] / 1024
        print(f"{kib:4.0f} KiB in flight per unit: {row['read_gb_per_s']:6.0f} GB/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
