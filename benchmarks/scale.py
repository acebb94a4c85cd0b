"""A report of many kernels through the command line; rules over many stored profiles at once.

The report is the shipped raw CSV with its launches repeated; the stored profiles are its launches
with every number moved by up to 20 %, so that no two are the same.
    python benchmarks/scale.py [--json FILE] [--kernels 1000] [--profiles 100000]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RAW = ROOT / "tests/data/reports/h100_triton_torch.raw.csv"
for part in ("", "engine", "ingest", "backends"):
    sys.path.insert(0, str(ROOT / part))

from kbs.subjects import Selection, read_subjects  # noqa: E402
from kbs_engine.diagnose import diagnose  # noqa: E402
from kbs_engine.ports import Rows  # noqa: E402
from kbs_ingest.rules.query import Condition  # noqa: E402
from kbs_ingest.rules.stored import columns_of, store_profiles, tally  # noqa: E402
from kbs_ingest.store import ingest, open_store  # noqa: E402

Row = dict[str, Any]
SPREAD = 0.2
HEAD_ROWS = 2
"""Column names and units of a wide raw CSV."""


def large_report(path: Path, kernels: int) -> None:
    """The shipped CSV with its launches repeated up to ``kernels``, ids counted on."""
    with RAW.open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.reader(file) if line]
    head = next(n for n, line in enumerate(lines) if "Kernel Name" in line)
    table = lines[head:]
    launches = table[HEAD_ROWS:]
    at = table[0].index("ID")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerows(table[:HEAD_ROWS])
        for number in range(kernels):
            line = list(launches[number % len(launches)])
            line[at] = str(number)
            writer.writerow(line)


def timed_command(home: Path, folder: Path, kernels: int) -> Row:
    """`kbs diagnose` of a report of ``kernels`` launches, process start and reading included."""
    report = folder / "many.raw.csv"
    large_report(report, kernels)
    places = os.pathsep.join(str(ROOT / part) for part in ("", "engine", "ingest", "backends"))
    command = [sys.executable, "-m", "kbs", "--home", str(home), "diagnose", str(report), "--json"]
    start = time.perf_counter()
    done = subprocess.run(
        command, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": places}
    )
    seconds = time.perf_counter() - start
    found = len(json.loads(done.stdout)["kernels"])
    if found != kernels:
        raise SystemExit(f"{found} kernels were diagnosed, not {kernels}")
    return {"name": f"kbs diagnose, {kernels} kernels", "seconds": seconds}


def varied(rows: Rows, chance: random.Random) -> Rows:
    """The same profile with every number moved a little."""
    moved = {name: value * chance.uniform(1 - SPREAD, 1 + SPREAD) for name, value in rows.p.items()}
    return Rows(p=moved, c=rows.c, w=rows.w, h=rows.h)


def timed_rules(store: Any, folder: Path, profiles: int) -> list[Row]:
    """All symptom rules over ``profiles`` stored profiles in one query."""
    rules = [Condition.of_rule(rule) for rule in store.rules()]
    known = [item.rows for item in diagnose(read_subjects([RAW], Selection(), store), store)]
    chance = random.Random(0)
    rows = [varied(known[number % len(known)], chance) for number in range(profiles)]
    path = folder / "profiles.parquet"
    store_profiles(path, rows, columns_of(rules))
    start = time.perf_counter()
    found = tally(path, rules)
    seconds = time.perf_counter() - start
    fired = sum(row.fired for row in found)
    return [
        {
            "name": f"{len(rules)} rules over {profiles} stored profiles",
            "seconds": seconds,
            "fired": fired,
            "bytes": path.stat().st_size,
        }
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--kernels", type=int, default=1000)
    parser.add_argument("--profiles", type=int, default=100_000)
    parser.add_argument("--home", type=Path, help="an index that is there; default: a new one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kbs-bench-") as name:
        folder = Path(name)
        home = options.home or folder / "home"
        if options.home is None:
            ingest(home, [ROOT / "gpu-wiki"], embedding_model="none")
        rows = [timed_command(home, folder, options.kernels)]
        with open_store(home) as store:
            rows += timed_rules(store, folder, options.profiles)
    for row in rows:
        row["seconds"] = round(row["seconds"], 3)
        print(f"{row['name']:45} {row['seconds']:10.3f} s")
    if options.json:
        record = {"cores": os.cpu_count(), "python": platform.python_version(), "rows": rows}
        options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
