"""How long the commands take: cold processes, warm queries, ingest.

Prints a table and, with --json FILE, a JSON document. Not a test: machines differ.
    python benchmarks/commands.py [--json FILE] [--repeat N]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "tests/data/reports/h100_triton_torch.ncu-rep"
KBS = [sys.executable, "-m", "kbs"]
HEAVY = ("torch", "sentence_transformers", "lancedb")

WARM = """
import sys, time
from pathlib import Path
from kbs_ingest.store import open_store
store = open_store(Path(sys.argv[1]))
store.search("first query loads the model")
times = []
for text in ("bank conflicts", "uncoalesced loads", "tensor cores idle", "split k") * 5:
    start = time.perf_counter()
    store.search(text)
    times.append(time.perf_counter() - start)
print(sorted(times)[len(times) // 2])
"""

LOADED = """
import sys
from kbs.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
sys.stderr.write(" ".join(name for name in %r if name in sys.modules))
"""


def seconds(command: list[str], repeat: int) -> float:
    """Median wall time of a command in a process of its own."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(home: Path, repeat: int) -> list[dict[str, object]]:
    """All figures, each with the bound that the design sets."""
    at = [*KBS, "--home", str(home), "-q"]
    rows: list[dict[str, object]] = []

    def add(name: str, value: float, bound: float, note: str = "") -> None:
        rows.append({"name": name, "seconds": round(value, 4), "bound_s": bound, "note": note})

    add("kbs --help, cold", seconds([*KBS, "--help"], repeat), 0.2)
    add("kbs ingest, first", seconds([*at, "ingest"], 1), 60)
    add("kbs ingest, nothing changed", seconds([*at, "ingest"], repeat), 1)
    add("kbs recommend REPORT, cold", seconds([*at, "recommend", str(REPORT)], repeat), 1.0)
    add("kbs query, cold with the model", seconds([*at, "query", "bank conflicts"], 3), 8)
    warm = subprocess.run(
        [sys.executable, "-c", WARM, str(home)], check=True, capture_output=True, text=True
    )
    add("query, warm in one process", float(warm.stdout.split()[-1]), 0.05)
    loaded = subprocess.run(
        [sys.executable, "-c", LOADED % (HEAVY,), "--home", str(home), "recommend", str(REPORT)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    rows[3]["note"] = f"heavy packages imported: {loaded.stderr.strip() or 'none'}"
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(
        str(ROOT / part) for part in ("", "engine", "ingest", "backends")
    )
    home = Path(tempfile.mkdtemp(prefix="kbs-bench-"))
    try:
        rows = measure(home, options.repeat)
    finally:
        shutil.rmtree(home)
    table = Table(title=f"{os.cpu_count()} cores, Python {platform.python_version()}")
    for column in ("what", "median", "bound", "held", "note"):
        table.add_column(column)
    for row in rows:
        held = "yes" if float(str(row["seconds"])) <= float(str(row["bound_s"])) else "NO"
        table.add_row(
            str(row["name"]), f"{row['seconds']} s", f"{row['bound_s']} s", held, str(row["note"])
        )
    Console(width=130).print(table)
    text = json.dumps({"cores": os.cpu_count(), "rows": rows}, indent=2)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")
    else:
        sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
