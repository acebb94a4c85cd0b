"""What the recorder's child does with each case on the GPU: check it, time it, launch it once."""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLUSH_BYTES = 256 * 1024 * 1024
"""Written before every timed sample: over five times the L2 of an H100."""
COVER_CYCLES = 400_000
"""Device sleep before the first event, so that the host has queued the launch by then."""
STICKY = 3
"""Exit status of a child whose CUDA context is lost; the parent goes on in a new one."""


class Journal:
    """One JSON line per event, flushed, so that a killed child leaves what it had."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")

    def write(self, case: str, state: str, **fields: Any) -> None:
        self._file.write(json.dumps({"case": case, "state": state, **fields}) + "\n")
        self._file.flush()


def run_part(part: str, cases: list[Any], journal: Path, deadline: float) -> int:
    """Run ``part`` for every case; a failing case is written down and the rest goes on."""
    import torch

    work = {"check": check_case, "time": time_case, "profile": profile_case}[part]
    book = Journal(journal)
    for case in cases:
        if time.monotonic() > deadline:  # stop in order, so that ncu still writes its report
            break
        book.write(case.name, "start")
        print(f"==CASE== {case.name}", flush=True)
        try:
            with clean_torch(torch):
                book.write(case.name, "done", result=work(case, torch))
        except Exception as error:  # noqa: BLE001 - the one boundary: any kernel may fail anyhow
            traceback.print_exc()
            book.write(case.name, "failed", error=f"{type(error).__name__}: {error}"[:2000])
        try:
            torch.cuda.synchronize()
        except RuntimeError as error:
            book.write(case.name, "failed", error=f"the CUDA context is lost: {error}"[:500])
            return STICKY
    return 0


@contextmanager
def clean_torch(torch: Any) -> Iterator[None]:
    """Restore torch's precision switches and free the memory after each case."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.manual_seed(0)
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
        gc.collect()
        if torch.cuda.is_initialized():
            torch.cuda.empty_cache()


# ---------------------------------------------------------------- check
def check_case(case: Any, torch: Any) -> dict[str, Any]:
    """Compare the faulty kernel and every fix with the reference (or the fixes with the kernel)."""
    ready = case.prepare()
    result: dict[str, Any] = {"reference": "torch" if ready.reference else "the faulty kernel"}
    if ready.reference:
        expected = [t.detach().clone() for t in ready.reference()]
        result["faulty"] = judge(torch, ready, ready.run, expected)
    else:
        ready.run()
        torch.cuda.synchronize()
        expected = [t.detach().clone() for t in ready.outputs()]
        finite = all(bool(torch.isfinite(t.double()).all()) for t in expected)
        result["faulty"] = {"ok": finite, "note": "finite; taken as the reference"}
    result["fixes"] = {
        name: judge(torch, ready, run, expected) for name, run in ready.fixes.items()
    }
    result["ok"] = result["faulty"]["ok"] and all(r["ok"] for r in result["fixes"].values())
    result["kernels"] = kernels_of(torch, ready.run)
    result["kernels_expected"] = case.kernels_per_run
    return result


def judge(torch: Any, ready: Any, run: Callable[[], Any], expected: list[Any]) -> dict[str, Any]:
    """Run with poisoned outputs and compare; a kernel that accumulates is tried unpoisoned."""
    saved = [t.detach().clone() for t in ready.outputs()]
    for tensor in ready.outputs():
        tensor.fill_(float("nan") if tensor.is_floating_point() else 113)
    run()
    torch.cuda.synchronize()
    poisoned = compare(torch, ready, expected)
    if poisoned["ok"]:
        return poisoned
    for tensor, old in zip(ready.outputs(), saved, strict=True):
        if tensor.shape == old.shape:
            tensor.copy_(old)
    run()
    torch.cuda.synchronize()
    plain = compare(torch, ready, expected)
    plain["note"] = "only without poisoned outputs" if plain["ok"] else "wrong either way"
    return plain


def compare(torch: Any, ready: Any, expected: list[Any]) -> dict[str, Any]:
    """Every element of every output against ``atol + rtol * |expected|``."""
    found = ready.outputs()
    if len(found) != len(expected):
        return {"ok": False, "error": f"{len(found)} outputs, expected {len(expected)}"}
    worst, wrong, total = 0.0, 0, 0
    for got, want in zip(found, expected, strict=True):
        if got.shape != want.shape:
            return {"ok": False, "error": f"shape {tuple(got.shape)}, not {tuple(want.shape)}"}
        error = (got.double() - want.double()).abs()
        limit = ready.atol + ready.rtol * want.double().abs()
        wrong += int((~(error <= limit)).sum())  # a NaN is wrong too
        worst = max(worst, float(torch.nan_to_num(error, nan=float("inf")).max()))
        total += got.numel()
    return {"ok": wrong == 0, "wrong": wrong, "elements": total, "max_abs_error": worst}


def kernels_of(torch: Any, run: Callable[[], Any]) -> list[str] | str:
    """Names of the kernels that one call launches, or why they are not known."""
    try:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
            run()
            torch.cuda.synchronize()
        rows = [e for e in seen.events() if str(e.device_type).endswith("CUDA")]
        return [e.name for e in sorted(rows, key=lambda e: e.time_range.start)][:64]
    except (RuntimeError, AttributeError, AssertionError) as error:  # CUPTI may be missing
        return f"not known: {error}"


# ---------------------------------------------------------------- time
def time_case(case: Any, torch: Any, rounds: int = 41, budget_s: float = 6.0) -> dict[str, Any]:
    """Device and call time of the faulty kernel and its fixes, interleaved A B B A."""
    ready = case.prepare()
    variants = {"faulty": ready.run, **ready.fixes}
    flush = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
    for run in variants.values():
        _warm_up(torch, run)
    device: dict[str, list[float]] = {name: [] for name in variants}
    began = time.monotonic()
    for index in range(rounds + 1):
        order = list(variants) if index % 2 == 0 else list(reversed(variants))
        for name in order:
            sample = device_ns(torch, variants[name], flush)
            if index:  # the first round is discarded
                device[name].append(sample)
        if index >= 31 and time.monotonic() - began > budget_s:  # 30 samples + 1
            break
    result: dict[str, Any] = {name: _summary(values) for name, values in device.items()}
    for name, run in variants.items():
        result[name]["call_ns"] = _summary([_call_ns(torch, run, flush) for _ in range(31)][1:])
    base = result["faulty"]["median_ns"]
    result["speedup"] = {n: base / result[n]["median_ns"] for n in ready.fixes}
    singles = {n: s for n, s in result["speedup"].items() if n.startswith("fix_")}
    if singles:
        result["dominant"] = max(singles, key=lambda n: singles[n]).removeprefix("fix_")
    return result


def _warm_up(torch: Any, run: Callable[[], Any], at_least_s: float = 0.025) -> None:
    run()
    torch.cuda.synchronize()
    began, calls = time.monotonic(), 0
    while calls < 5 or time.monotonic() - began < at_least_s:  # see measurement
        run()
        torch.cuda.synchronize()
        calls += 1


def device_ns(torch: Any, run: Callable[[], Any], flush: Any) -> float:
    """One event-timed call (ns), after an L2 flush; the host's launch work is covered."""
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    flush.fill_(1)
    torch.cuda._sleep(COVER_CYCLES)
    start.record()
    run()
    stop.record()
    stop.synchronize()
    return float(start.elapsed_time(stop)) * 1e6


def _call_ns(torch: Any, run: Callable[[], Any], flush: Any) -> float:
    flush.fill_(1)
    torch.cuda.synchronize()
    began = time.perf_counter_ns()
    run()
    torch.cuda.synchronize()
    return float(time.perf_counter_ns() - began)


def _summary(values: list[float]) -> dict[str, Any]:
    cuts = statistics.quantiles(values, n=5, method="inclusive")
    return {
        "median_ns": round(statistics.median(values)),
        "p20_ns": round(cuts[0]),
        "p80_ns": round(cuts[3]),
        "samples": len(values),
    }


def empty_pair_ns(torch: Any) -> dict[str, Any]:
    """What the timer itself reads around no kernel at all."""
    flush = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
    return _summary([device_ns(torch, lambda: None, flush) for _ in range(50)])


# ---------------------------------------------------------------- profile
def profile_case(case: Any, torch: Any) -> dict[str, Any]:
    """Warm up, then exactly one call inside a profiler range."""
    ready = case.prepare()
    ready.run()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    try:
        ready.run()
        torch.cuda.synchronize()
    finally:
        torch.cuda.profiler.stop()
    sys.stdout.flush()
    return {"kernels_expected": case.kernels_per_run}
