"""How long `kbs audit` takes on a tree of 10,000 archived files.

    python benchmarks/audit.py [--files N] [--jobs N] [--json FILE]
The bound is 60 s on 2 cores. Not a test: machines differ.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOUND_S = 60.0
PATH = os.pathsep.join(str(ROOT / part) for part in ("", "engine", "ingest", "backends"))
sys.path[:0] = PATH.split(os.pathsep)

MEASURED = (
    "Median {us:.1f} µs over 20 rounds, {rate:.2f} TB/s, {pct:.1f} % of peak.",
    "The kernel achieves {rate:.2f} TB/s of DRAM bandwidth.",
    "Each block uses {kib} KiB of shared memory and 128 registers per thread.",
    "Next: double buffering, because the stall on long scoreboard is {pct:.0f} %.",
    "Plain words about what was tried in this round and what came of it.",
)


def make(folder: Path, count: int) -> tuple[int, int]:
    """Write a tree of Markdown, JSON and text as runs leave it; return citations and bytes."""
    from kbs_ingest.wiki.load import load_wiki

    draw = random.Random(0)
    chips = [page.chip for page in load_wiki([ROOT / "gpu-wiki"]).chips.values()]
    citations = size = 0
    for number in range(count):
        chip = draw.choice(chips)
        specs = draw.sample([spec for spec in chip.specs if spec.value is not None], 6)
        cited = [spec.cite(chip.name) for spec in specs]
        prose = [
            draw.choice(MEASURED).format(
                us=draw.uniform(3, 900), rate=draw.uniform(0.2, 7), pct=draw.uniform(20, 98), kib=48
            )
            for _ in range(60)
        ]
        suffix = (".md", ".json", ".txt")[number % 3]
        lines = [*(f"- {text}" for text in cited), "", *prose]
        text = json.dumps({"notes": lines}, indent=1) if suffix == ".json" else "\n".join(lines)
        path = folder / f"run{number // 100:03}" / f"v{number}{suffix}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        citations += len(cited)
        size += len(text)
    return citations, size


def main() -> None:
    """Make the tree, audit it in a process of its own, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kbs-audit-") as name:
        citations, size = make(Path(name), options.files)
        command = [sys.executable, "-m", "kbs", "audit", name, "--json"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        done = subprocess.run(
            [*command, "--jobs", str(options.jobs)],
            check=False, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PATH},
        )  # fmt: skip
        seconds = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = json.loads(done.stdout)
    row = {
        "files": answer["files"],
        "megabytes": round(size / 1e6, 1),
        "citations": len(answer["citations"]),
        "not_ok": sum(found["verdict"] != "ok" for found in answer["citations"]),
        "uncited": len(answer["uncited"]),
        "jobs": options.jobs,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2
        ),
        "load_average": round(os.getloadavg()[0], 1),
        "bound_s": BOUND_S,
        "held": seconds <= BOUND_S and len(answer["citations"]) == citations,
    }
    text = json.dumps(row, indent=2)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
