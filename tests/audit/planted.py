"""An archive with citations of every verdict in every container, made from the wiki itself."""

from __future__ import annotations

import json
from dataclasses import dataclass

from kbs_engine.facts import Chip

H100 = "hardware/nvidia/h100_sxm.md"


@dataclass(frozen=True)
class Planted:
    """One citation, the verdict it must get, and the line that --fix must write."""

    text: str
    verdict: str
    fixed: str = ""


def at(chip: Chip, metric: str, density: str = "dense") -> tuple[str, int]:
    """Path and line of a used value."""
    spec = chip.find(metric, density=density)
    assert spec is not None, metric
    return spec.citation.path, spec.citation.line


def cited(spec, name: str = "") -> str:
    """The spec's own citation, saying what its basis makes other than the usual one."""
    words = [word for word in (spec.basis.density == "sparse" and "sparse",
                               spec.basis.scope == "die" and "per die") if word]  # fmt: skip
    text = spec.cite(name)
    return f"{text} ({', '.join(words)})" if words else text


def statements(wiki) -> list[Planted]:
    """Citations of every verdict; lines are looked up so that they follow the wiki."""
    h100, h20, mi = (wiki.chips[name].chip for name in ("h100_sxm", "h20", "mi300x"))
    path, hbm = at(h100, "memory_bandwidth")
    _, capacity = at(h100, "memory_capacity")
    _, bf16 = at(h100, "peak_bf16_tensor")
    _, sparse = at(h100, "peak_bf16_tensor", "sparse")
    _, sms = at(h100, "unit_count")
    _, l2 = at(h100, "l2_size")
    _, tdp = at(h100, "tdp")
    limits, registers = at(h100, "registers_per_unit")
    _, shared = at(h100, "shared_per_block_max")
    h20_path, h20_hbm = at(h20, "memory_bandwidth")
    mi_path, mi_cus = at(mi, "unit_count")
    fp4 = next(s.citation.line for s in h100.specs if s.metric == "peak_fp4_tensor")
    name = "H100 SXM HBM3 bandwidth"
    right = f"gpu-wiki/{path}:L{hbm}"
    return [
        Planted(f"{name}: 3.35 TB/s <- {right}", "ok"),
        Planted(f"{name}: 3350 GB/s <- {right}", "ok"),
        Planted(f"NVIDIA H100 80GB HBM3 memory bandwidth: 3,350 GB/s <- {right}", "ok"),
        Planted(f"memory_bandwidth: 3.35 TB/s <- {right}", "ok"),
        Planted(f"H100 SXM dense BF16 tensor: 0.9894 PFLOPS <- gpu-wiki/{path}:L{bf16}", "ok"),
        Planted(f"H100 SXM sparse BF16: 1978.9 TFLOPS <- gpu-wiki/{path}:L{sparse}", "ok"),
        Planted(f"H100 SXM SM count: 132 <- gpu-wiki/{path}:L{sms}", "ok"),
        Planted(f"H100 SXM TDP: 700 W <- [gpu-wiki]/{path}:L{tdp}", "ok"),
        Planted(f"H100 SXM registers per SM: 65536 <- gpu-wiki/{limits}:L{registers}", "ok"),
        Planted(
            f"H100 SXM shared memory per block, opt-in: 227 KB <- gpu-wiki/{limits}:L{shared}", "ok"
        ),
        Planted(f"H20 HBM3 bandwidth: 4.0 TB/s <- <gpu-wiki>/docs/{h20_path}:L{h20_hbm}", "ok"),
        Planted(f"{name}: 3.35 TB/s <- gpu-wiki/{path}:Specs", "ok"),
        Planted("H100 SXM L3 cache: UNKNOWN (gpu-wiki not found)", "ok"),
        Planted(f"H100 SXM FP4 tensor: UNKNOWN <- gpu-wiki/{path}:L{fp4}", "ok"),
        Planted(f"MI300X CUs: 304 ← gpu-wiki/{mi_path}:L{mi_cus}", "ok"),
        Planted(f"{name}: 3.35 TB/s <- gpu-wiki/{path}:L{hbm + 2}", "moved", right),
        Planted(f"{name}: 3.35 TB/s <- gpu-wiki/{path}:L{hbm - 9}", "moved", right),
        Planted(f"{name}: 3.35 TB/s <- gpu-wiki/{path}:L4999", "moved", right),
        Planted(
            f"H20 HBM3 bandwidth: 4000 GB/s <- <gpu-wiki>/docs/hardware/h20_spec.md:L{h20_hbm - 4}",
            "moved",
            f"<gpu-wiki>/docs/hardware/h20_spec.md:L{h20_hbm}",
        ),
        Planted(f"{name}: 3.0 TB/s <- {right}", "changed"),
        Planted(f"{name}: 3.36 TB/s <- {right}", "changed"),
        Planted(f"H100 SXM L2 cache: 51 MB <- gpu-wiki/{path}:L{l2}", "changed"),
        Planted(f"H100 SXM SMs: UNKNOWN <- gpu-wiki/{path}:L{sms}", "changed"),
        Planted(f"{name}: 3.35 TB/s <- gpu-wiki/hardware/nvidia/no_such_part.md:L24", "missing"),
        Planted(f"{name}: 3.35 TB/s <- gpu-wiki/../../../etc/passwd:L1", "missing"),
        Planted(f"H100 SXM Infinity Cache: 256 MiB <- gpu-wiki/{path}:L{l2}", "missing"),
        Planted(f"H100 SXM L2 cache: 9 MB <- gpu-wiki/{path}:L4999", "missing"),
        Planted(f"{name}: 3.35 TB/s <- gpu-wiki/{path}", "missing"),
        Planted(f"H100 SXM L2 cache: 9 MB <- gpu-wiki/{path}:Colophon", "missing"),
        Planted(f"{name}: 1.2 TB/s <- {right}", "wrong_value"),
        Planted(f"{name}: 3.35 GB/s <- {right}", "wrong_value"),
        Planted(f"H100 SXM HBM3 capacity: 80 GiB <- gpu-wiki/{path}:L{capacity}", "wrong_value"),
        Planted(f"H100 SXM BF16 tensor: 1978.9 TFLOPS <- gpu-wiki/{path}:L{bf16}", "wrong_value"),
        Planted(
            f"H100 SXM dense BF16 tensor: 1978.9 TFLOPS <- gpu-wiki/{path}:L{sparse}", "wrong_value"
        ),
        Planted(f"H100 PCIe HBM bandwidth: 3.35 TB/s <- {right}", "wrong_chip"),
        Planted(f"H200 HBM3e bandwidth: 3.35 TB/s <- {right}", "wrong_chip"),
        Planted(f"H800 HBM3 bandwidth: 3.35 TB/s <- {right}", "wrong_chip"),
        Planted(f"H100 SXM SMs: 114 <- gpu-wiki/{path}:L{sms}", "wrong_chip"),
        Planted(f"A100 registers per SM: 65536 <- gpu-wiki/{limits}:L{registers}", "wrong_chip"),
    ]


def bullets(rows):
    return "# Specs\n\n" + "".join(f"- {row.text}\n" for row in rows), [
        n + 3 for n in range(len(rows))
    ]


def table(rows):
    head = "| # | Spec | Note |\n|---|---|---|\n"
    return head + "".join(f"| {n} | {row.text} | – |\n" for n, row in enumerate(rows)), [
        n + 3 for n in range(len(rows))
    ]


def cells(rows):
    """Label, value and citation in cells of their own, where the form allows it."""
    head = "| Metric | Value | Source |\n|---|---|---|\n"
    lines = []
    for row in rows:
        label, value, place = split(row.text)
        lines.append(f"| {label} | {value} | {place} |\n" if place else f"| {row.text} |  |  |\n")
    return head + "".join(lines), [n + 3 for n in range(len(rows))]


def split(text):
    arrow = next((a for a in ("<- ", "← ") if a in text), "")
    if not arrow:
        return text, "", ""
    head, place = text.split(arrow, 1)
    label, value = head.rsplit(":", 1)
    return label.strip(), value.strip(), f"{arrow}{place}"


def code_block(rows):
    return "Text.\n\n```text\n" + "".join(f"  {row.text}\n" for row in rows) + "```\n", [
        n + 4 for n in range(len(rows))
    ]


def two_in_a_line(rows):
    """Every citation twice on its line, with words between and after."""
    return "".join(f"{row.text}; und ähnlich: {row.text}, so weit.\n" for row in rows), [
        n + 1 for n in range(len(rows)) for _ in (0, 1)
    ]


def wrapped(rows):
    """The arrow on the next line; the citation stands on that line."""
    text, lines = "", []
    for row in rows:
        label, value, place = split(row.text)
        if place:
            text += f"{label}: {value}\n  {place}\n\n"
            lines.append(text.count("\n") - 1)
        else:
            text += f"{row.text}\n\n"
            lines.append(text.count("\n") - 1)
    return text, lines


def crlf(rows):
    return "".join(f"• größe – {row.text}\r\n" for row in rows), [n + 1 for n in range(len(rows))]


def json_strings(rows):
    text = json.dumps({"specs": [f"µ: {row.text}" for row in rows]}, indent=1, ensure_ascii=False)
    return text + "\n", [n + 3 for n in range(len(rows))]


def json_escapes(rows):
    """ASCII escapes, an escaped arrow, a line break inside a string."""
    lines = [
        json.dumps({"note": f'größe "x"\n{row.text}\nend'}).replace("<", "\\u003c") for row in rows
    ]
    return "\n".join(lines), [n + 1 for n in range(len(rows))]


def yaml_text(rows):
    return "".join(f"- '{row.text}'\n" for row in rows), [n + 1 for n in range(len(rows))]


def python_comments(rows):
    return "".join(f"x{n} = {n}  # {row.text}\n" for n, row in enumerate(rows)), [
        n + 1 for n in range(len(rows))
    ]


def cuda_comments(rows):
    return "".join(f"int x{n};  // {row.text}\n" for n, row in enumerate(rows)), [
        n + 1 for n in range(len(rows))
    ]


CONTAINERS = {
    "bullets.md": bullets,
    "table.md": table,
    "cells.md": cells,
    "code.md": code_block,
    "two.md": two_in_a_line,
    "wrapped.md": wrapped,
    "crlf.txt": crlf,
    "strings.json": json_strings,
    "escapes.jsonl": json_escapes,
    "list.yaml": yaml_text,
    "comments.py": python_comments,
    "comments.cu": cuda_comments,
}
