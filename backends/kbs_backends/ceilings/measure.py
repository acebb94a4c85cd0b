"""Measure what one GPU really reaches: bandwidths, matrix and vector rates, launch time.

Clocks are left as found; a measurement that fails is recorded and the rest goes on.
Runs in a process of its own (``python -m kbs_backends.ceilings``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from kbs_backends.ceilings import kernels
from kbs_backends.ceilings.gpu_state import environment, gpu_state
from kbs_backends.ceilings.page import shown
from kbs_backends.ceilings.timing import COVER_CYCLES, Sample, sample_ns

MIB: Final = 1024 * 1024
DTYPES: Final = ("fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "int8", "fp64")
SIZES: Final = (4096, 8192)
LONG_COVER_CYCLES: Final = 20_000_000
"""About 10 ms: the host queues 200 Triton launches in less."""


def measure_bandwidth(torch: Any, mib: int) -> list[dict[str, Any]]:
    """Copy, read, write and triad over buffers far larger than L2, by torch and by Triton."""
    count = mib * MIB // 4
    a, b, c = (torch.empty(count, dtype=torch.float32, device="cuda") for _ in range(3))
    for tensor in (a, b, c):
        tensor.normal_()
    total = torch.empty((), dtype=torch.float32, device="cuda")
    size = count * 4
    ways: list[tuple[str, str, int, Callable[[], Any]]] = [
        ("copy", "torch copy_", 2 * size, lambda: b.copy_(a)),
        ("read", "torch sum", size, lambda: torch.sum(a, dim=0, out=total)),
        ("write", "torch fill_", size, lambda: b.fill_(1.5)),
        ("triad", "torch add(a, b, alpha)", 3 * size, lambda: torch.add(a, b, alpha=1.5, out=c)),
    ]
    for name, bytes_moved in (("copy", 2), ("read", 1), ("write", 1), ("triad", 3)):
        for block, warps in ((1024, 4), (2048, 8), (4096, 8), (8192, 16)):
            run = kernels.stream_runner(name, a, b, c, block, warps)
            label = f"triton block {block}, {warps} warps"
            ways.append((name, label, bytes_moved * size, run))
    return [
        attempt({"what": f"{name}_bandwidth", "how": how, "bytes": moved, "buffer_mib": mib}, run)
        for name, how, moved, run in ways
    ]


def measure_l2(torch: Any, mib: int = 16) -> list[dict[str, Any]]:
    """Read one buffer that fits in L2 again and again inside one kernel."""
    count = mib * MIB // 4
    data = torch.randn(count, dtype=torch.float32, device="cuda")
    found = []
    for block, warps in ((2048, 4), (4096, 8), (8192, 16)):
        run, moved = kernels.l2_runner(data, block, warps, sweeps=64)
        what = {"what": "l2_bandwidth", "how": f"triton block {block}, {warps} warps, 64 sweeps"}
        found.append(attempt({**what, "bytes": moved, "buffer_mib": mib}, run, flush=False))
    return found


def measure_matmul(torch: Any, dtypes: Sequence[str]) -> list[dict[str, Any]]:
    """Vendor GEMM by dtype and size, on random data, dense."""
    found = []
    for dtype in dtypes:
        for size in SIZES:
            what: dict[str, Any] = {
                "what": f"peak_{dtype}_tensor",
                "how": f"{size}x{size}x{size}",
                "dtype": dtype,
            }
            if dtype == "fp32":
                what["what"] = "matmul_fp32_no_tf32"
            what["flops"] = 2 * size**3
            if dtype == "fp64" and size == max(SIZES):
                what["samples"] = 21
            try:
                run, how = kernels.matmul_runner(torch, dtype, size)
            except (RuntimeError, AttributeError, TypeError, ValueError) as error:
                found.append({**what, "error": str(error)[:400]})
                continue
            what["how"] = f"{how}, {what['how']}"
            found.append(attempt(what, run))
            torch.backends.cuda.matmul.allow_tf32 = False
            del run
            torch.cuda.empty_cache()
    return found


def measure_fma(torch: Any) -> list[dict[str, Any]]:
    """FP32 fused multiply-adds from registers, several independent chains per thread."""
    found = []
    for warps, chains in ((4, 4), (8, 4), (4, 8), (8, 8)):
        run, flops = kernels.fma_runner(torch, warps, chains)
        what = {"what": "peak_fp32", "how": f"triton fma, {warps} warps, {chains} chains a thread"}
        found.append(attempt({**what, "flops": flops}, run, flush=False))
    return found


def measure_launch(torch: Any) -> list[dict[str, Any]]:
    """Time of an empty kernel: many back to back, one between events, and in a CUDA graph."""
    found: list[dict[str, Any]] = []
    ways = kernels.launch_ways(torch)
    while True:
        try:
            what, how, run, divisor = next(ways)
        except StopIteration:
            break
        except RuntimeError as error:  # graph capture, the last of them
            lost = {"what": "empty_launch_graph", "how": "capture", "error": str(error)[:400]}
            found.append(lost)
            break
        cover = 0 if what == "empty_launch_host" else LONG_COVER_CYCLES
        entry = attempt({"what": what, "how": how}, run, flush=False, cover_cycles=cover)
        if "median_ns" in entry:
            for key in ("median_ns", "p20_ns", "p80_ns"):
                entry[key] = round(entry[key] / divisor, 1)
        found.append(entry)
    return found


def attempt(
    what: dict[str, Any],
    run: Callable[[], Any],
    *,
    flush: bool = True,
    cover_cycles: int = COVER_CYCLES,
) -> dict[str, Any]:
    """Time ``run`` and derive the rate; the error stands in its place where it fails."""
    try:
        count = what.pop("samples", 31)
        sample: Sample = sample_ns(run, flush=flush, cover_cycles=cover_cycles, count=count)
    except Exception as error:  # noqa: BLE001 - the one boundary: any kernel may fail anyhow
        return {**what, "error": f"{type(error).__name__}: {error}"[:400]}
    entry = {**what, **sample.as_dict()}
    if "bytes" in what:
        entry["bytes_per_s"] = what["bytes"] / sample.median_ns * 1e9
    if "flops" in what:
        entry["flops_per_s"] = what["flops"] / sample.median_ns * 1e9
    sys.stderr.write(f"{entry['what']:24s} {entry['how'][:44]:44s} {shown(entry)}\n")
    return entry


def measure_all(
    *, dtypes: Sequence[str], buffer_mib: int, gpu: str, command: str
) -> dict[str, Any]:
    """Every ceiling of the current CUDA device, with the card's state between the groups.

    ``gpu`` is the driver's index of that card, for nvidia-smi. ``buffer_mib`` is raised to four
    times L2, so that bandwidth is device memory's.
    """
    import torch

    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    properties = torch.cuda.get_device_properties(0)
    l2_bytes = int(getattr(properties, "L2_cache_size", 50 * MIB))
    mib = max(buffer_mib, 4 * l2_bytes // MIB)
    record = environment(command, gpu)
    record["device"] = {
        "name": torch.cuda.get_device_name(0),
        "units": properties.multi_processor_count,
        "l2_bytes": l2_bytes,
        "capability": f"{properties.major}.{properties.minor}",
    }
    record["results"], record["states"] = [], {}
    groups: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "bandwidth": lambda: measure_bandwidth(torch, mib),
        "l2": lambda: measure_l2(torch),
        "matmul": lambda: measure_matmul(torch, dtypes),
        "fma": lambda: measure_fma(torch),
        "launch": lambda: measure_launch(torch),
    }
    for name, group in groups.items():
        try:
            record["results"] += group()
        except Exception as error:  # noqa: BLE001 - recorded; the other groups go on
            record["results"].append({"what": name, "how": "group", "error": str(error)[:400]})
        record["states"][f"after {name}"] = gpu_state(gpu)
        torch.cuda.empty_cache()
    return record
