"""Measure what one GPU really reaches: bandwidths, matrix and vector rates, launch time.

    python3 tools/measure_ceilings.py --out OUT --page gpu-wiki/measured/h100_sxm_measured.md

Writes ``ceilings.json`` and, with ``--page``, a page of kind ``measured``.
Clocks are left as found; a measurement that fails is recorded and the rest goes on.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

import ceiling_kernels as kernels  # noqa: E402
import ceiling_page  # noqa: E402
from ceiling_timing import COVER_CYCLES, Sample, sample_ns  # noqa: E402
from gpu_state import environment, gpu_state  # noqa: E402

MIB = 1024 * 1024
DTYPES = ("fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "int8", "fp64")
SIZES = (4096, 8192)
LONG_COVER_CYCLES = 20_000_000
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


def measure_matmul(torch: Any) -> list[dict[str, Any]]:
    """Vendor GEMM by dtype and size, on random data, dense."""
    found = []
    for dtype in DTYPES:
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
    print(f"{entry['what']:24s} {entry['how'][:44]:44s} {ceiling_page.shown(entry)}", flush=True)
    return entry


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Every ceiling, with the state of the card before, between and after."""
    import torch

    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    properties = torch.cuda.get_device_properties(0)
    l2_bytes = int(getattr(properties, "L2_cache_size", 50 * MIB))
    mib = max(options.buffer_mib, 4 * l2_bytes // MIB)
    record = environment(options.command)
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
        "matmul": lambda: measure_matmul(torch),
        "fma": lambda: measure_fma(torch),
        "launch": lambda: measure_launch(torch),
    }
    for name, group in groups.items():
        try:
            record["results"] += group()
        except Exception as error:  # noqa: BLE001 - recorded; the other groups go on
            record["results"].append({"what": name, "how": "group", "error": str(error)[:400]})
            print(f"{name}: {error}", file=sys.stderr)
        record["states"][f"after {name}"] = gpu_state()
        torch.cuda.empty_cache()
    return record


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("ceilings-out"))
    parser.add_argument("--page", type=Path, help="write a gpu-wiki page of kind measured")
    parser.add_argument("--chip", help="id of the hardware page; default: by the card's name")
    parser.add_argument("--wiki", type=Path, default=HERE.parent / "gpu-wiki")
    parser.add_argument("--buffer-mib", type=int, default=1024, help="size of one DRAM buffer")
    parser.add_argument("--from-json", type=Path, help="only write the page, from a recording")
    options = parser.parse_args(arguments)
    options.command = "python3 tools/measure_ceilings.py " + shlex.join(
        ["--chip", options.chip] if options.chip else []
    )
    options.command = options.command.strip()
    return options


def main(arguments: list[str] | None = None) -> int:
    """Measure, write JSON and the page; 0 when nothing failed."""
    options = parse(arguments)
    if options.from_json:
        record = json.loads(options.from_json.read_text(encoding="utf-8"))
    else:
        record = measure(options)
        options.out.mkdir(parents=True, exist_ok=True)
        target = options.out / "ceilings.json"
        target.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if options.page:
        page = ceiling_page.page(record, options.wiki, options.chip)
        options.page.parent.mkdir(parents=True, exist_ok=True)
        options.page.write_text(page, encoding="utf-8")
    failed = [entry for entry in record["results"] if "error" in entry]
    for entry in failed:
        print(f"failed: {entry['what']} ({entry['how']}): {entry['error']}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
