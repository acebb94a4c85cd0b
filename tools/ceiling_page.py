"""The gpu-wiki page of measured ceilings (docs/wiki-format.md, kind ``measured``)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_ROWS = (
    ("copy_bandwidth", "memory_bandwidth", "copy bandwidth", "per chip; read and written bytes"),
    ("read_bandwidth", "read_bandwidth", "read bandwidth", "per chip; bytes read"),
    ("write_bandwidth", "write_bandwidth", "write bandwidth", "per chip; bytes written"),
    ("l2_bandwidth", "l2_bandwidth", "L2 read bandwidth", "per chip; bytes read"),
)
_TENSOR = ("tf32", "fp16", "bf16", "fp8_e4m3", "int8", "fp64")
_SOURCE = "[run] tools/measure_ceilings.py (D)"


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


def find_chip(wiki: Path, device: str, chip: str | None) -> dict[str, str]:
    """Front matter of the hardware page with id ``chip``, or that names ``device`` in its aliases.

    Raises:
        SystemExit: no page fits; the message names the remedy.
    """
    for path in sorted(wiki.glob("hardware/*/*.md")):
        text = path.read_text(encoding="utf-8")
        parts = text.split("---", 2)
        if len(parts) < 3:  # noqa: PLR2004 - no front matter
            continue
        fields = dict(re.findall(r"^(\w+):[ \t]*([^#\n]*?)[ \t]*(?:#.*)?$", parts[1], re.MULTILINE))
        names = [name.strip() for name in fields.get("aliases", "").strip("[]").split(",")]
        if chip == fields.get("id") or (chip is None and device in [*names, fields.get("name")]):
            return fields
    raise SystemExit(f"no page in {wiki}/hardware has the alias {device!r}: give --chip ID")


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


def page(record: dict[str, Any], wiki: Path, chip: str | None) -> str:
    """The Markdown page; its id is the chip's with ``_measured``."""
    fields = find_chip(wiki, record["device"]["name"], chip)
    versions = ", ".join(f"{name} {text}" for name, text in record["versions"].items())
    gpu = record["gpu"]
    lines = [
        "---",
        "kind: measured",
        f"id: {fields['id']}_measured",
        f"chip: {fields['id']}",
        f"name: {fields['name']}, measured",
        *(f"{key}: {fields[key]}" for key in ("vendor", "architecture", "arch")),
        "---",
        f"# {fields['name']}, measured",
        "",
        f"What one {record['device']['name']} reached on {record['date']}, clocks as found.",
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
            f"- [run] {record['device']['name']}, driver {gpu.get('driver', 'not stated')}, "
            f"{record['date']}, {versions}. Command: `{record['command']}`."
        ),
    ]
    return "\n".join(lines) + "\n"
