"""The gpu-wiki page of measured ceilings (docs/wiki-format.md, kind ``measured``)."""

from __future__ import annotations

from typing import Any

import msgspec

from kbs_engine.facts import Chip
from kbs_engine.results import Ceilings

_ROWS = (
    ("copy_bandwidth", "memory_bandwidth", "copy bandwidth", "per chip; read and written bytes"),
    ("read_bandwidth", "read_bandwidth", "read bandwidth", "per chip; bytes read"),
    ("write_bandwidth", "write_bandwidth", "write bandwidth", "per chip; bytes written"),
    ("l2_bandwidth", "l2_bandwidth", "L2 read bandwidth", "per chip; bytes read"),
)
_TENSOR = ("tf32", "fp16", "bf16", "fp8_e4m3", "int8", "fp64")
_SOURCE = "[run] kbs ceiling (D)"


def shown(entry: dict[str, Any]) -> str:
    """The rate or time of one result, for the screen."""
    if "bytes_per_s" in entry:
        return f"{entry['bytes_per_s'] / 1e12:8.3f} TB/s"
    if "flops_per_s" in entry:
        return f"{entry['flops_per_s'] / 1e12:8.1f} T/s"
    return f"{entry['median_ns']:8.0f} ns"


def best(results: list[dict[str, Any]], what: str) -> dict[str, Any] | None:
    """The fastest valid result of one kind: most bytes or operations a second."""
    fitting = [entry for entry in results if entry["what"] == what and "error" not in entry]
    return max(fitting, key=_merit) if fitting else None


def _merit(entry: dict[str, Any]) -> float:
    rate = entry.get("bytes_per_s") or entry.get("flops_per_s")
    return float(rate) if rate else -float(entry["median_ns"])


def _significant(value: float) -> str:
    """Four significant digits as a plain decimal."""
    text = f"{value:.4g}"
    return f"{value:.0f}" if "e" in text else text


def _spread(entry: dict[str, Any]) -> str:
    low, high = entry["p20_ns"], entry["p80_ns"]
    return (
        f"{entry['how']}; median of {entry['samples']}; {_significant(entry['median_ns'])} ns, "
        f"p20 {_significant(low)}, p80 {_significant(high)}"
    )


def _rows(results: list[dict[str, Any]]) -> list[str]:
    rows = []
    for what, metric, words, basis in _ROWS:
        entry = best(results, what)
        if entry:
            value = _significant(entry["bytes_per_s"] / 1e12)
            rows.append(_row(metric, words, value, "TB/s", f"{basis}; {_spread(entry)}"))
    for dtype in _TENSOR:
        entry = best(results, f"peak_{dtype}_tensor")
        if entry:
            metric = "peak_fp8_tensor" if dtype.startswith("fp8") else f"peak_{dtype}_tensor"
            unit = "TOPS" if dtype.startswith("int") else "TFLOPS"
            value = _significant(entry["flops_per_s"] / 1e12)
            words = f"{dtype} matrix product"
            rows.append(_row(metric, words, value, unit, f"dense; per chip; {_spread(entry)}"))
    entry = best(results, "peak_fp32")
    if entry:
        value = _significant(entry["flops_per_s"] / 1e12)
        basis = f"dense; per chip; {_spread(entry)}"
        rows.append(_row("peak_fp32", "fp32 multiply-add", value, "TFLOPS", basis))
    entry = best(results, "empty_launch_time")
    if entry:
        value = f"{entry['median_ns']:.0f}"
        rows.append(_row("empty_launch_time", "empty kernel", value, "ns", _spread(entry)))
    return rows


def _row(metric: str, words: str, value: str, unit: str, basis: str) -> str:
    return f"| `{metric}` {words} | {value} | {unit} | {basis} | {_SOURCE} |"


def _notes(record: dict[str, Any]) -> list[str]:
    """What the rows cannot say: the other launch figures, fp32 GEMM, triad, clocks."""
    results, lines = record["results"], []
    for what, words in (
        ("matmul_fp32_no_tf32", "fp32 torch.matmul without TF32"),
        ("triad_bandwidth", "triad, a + s * b into c"),
        ("empty_launch_pair", "one empty kernel between two events"),
        ("event_pair", "two events with nothing between"),
        ("empty_launch_graph", "an empty kernel in a CUDA graph"),
        ("empty_launch_host", "an empty Triton launch with the host's work"),
    ):
        entry = best(results, what)
        if entry:
            lines.append(f"- {words}: {shown(entry).strip()} ({entry['how']}).")
    for moment, state in [("before", record["gpu"]), *record["states"].items()]:
        lines.append(
            f"- {moment}: SM {state.get('sm_clock_mhz')} MHz, memory "
            f"{state.get('memory_clock_mhz')} MHz, {state.get('temperature_c')} °C, "
            f"{state.get('power_w')} W."
        )
    failed = [entry for entry in results if "error" in entry]
    lines += [f"- not measured: {entry['what']} ({entry['how']})." for entry in failed]
    return lines


def answer(record: dict[str, Any]) -> Ceilings:
    """The best of each kind as the answer of a Ceiling job: bytes/s, operations/s or ns."""
    values = []
    for what in dict.fromkeys(entry["what"] for entry in record["results"]):
        entry = best(record["results"], what)
        if entry is None:
            continue
        rate = entry.get("bytes_per_s") or entry.get("flops_per_s")
        unit = "bytes/s" if "bytes_per_s" in entry else "ops/s" if rate else "ns"
        dtype = entry.get("dtype")
        value, how = float(rate or entry["median_ns"]), _spread(entry)
        row = {"metric": what, "value": value, "unit": unit, "dtype": dtype, "how": how}
        values.append(row)
    return msgspec.convert({"values": values}, Ceilings, from_attributes=True)


def failures(record: dict[str, Any]) -> list[str]:
    """What could not be measured, with the reason."""
    return [
        f"{entry['what']} ({entry['how']}): {entry['error']}"
        for entry in record["results"]
        if "error" in entry
    ]


def page(record: dict[str, Any], chip: Chip) -> str:
    """The Markdown page of ``record``; its id is the chip's with ``_measured``."""
    versions = ", ".join(f"{name} {text}" for name, text in record["versions"].items())
    gpu, device = record["gpu"], record["device"]["name"]
    lines = [
        "---",
        "kind: measured",
        f"id: {chip.id}_measured",
        f"chip: {chip.id}",
        f"name: {chip.name}, measured",
        f"vendor: {chip.vendor}",
        f"architecture: {chip.architecture}",
        f"arch: {chip.arch}",
        "---",
        f"# {chip.name}, measured",
        "",
        f"What one {device} reached on {record['date']}, clocks as found.",
        "The best configuration of each kind stands here; every sample is a CUDA-event time.",
        "A roofline uses the vendor's peaks; these rows say how much of them a program can get.",
        "",
        "## Specs",
        "| Metric | Value | Unit | Basis | Source |",
        "|---|---|---|---|---|",
        *_rows(record["results"]),
        "",
        "## Notes",
        *_notes(record),
        "",
        "## Sources",
        (
            f"- [run] {device}, driver {gpu.get('driver', 'not stated')}, "
            f"{record['date']}, {versions}. Command: `{record['command']}`."
        ),
    ]
    return "\n".join(lines) + "\n"
