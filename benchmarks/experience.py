"""How long a large experience log takes: merge, ingest, and a cold recommendation.

    PYTHONPATH=engine:ingest:backends:. python benchmarks/experience.py --records 1000000

Every step runs as a process of its own, through the command line, as a user runs it. Records
are made up with a fixed seed (nothing of them is a measurement of a kernel); each has the
fields of a record that a loop writes, with twelve metrics before and after. The index is built
by words alone, so that the time to embed the wiki's pages is not counted as experience.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from kbs_engine.experience import Entry, record_id, write_line
from kbs_engine.outcomes import Outcome, dims_class
from kbs_engine.vocabulary import LIMITERS
from kbs_ingest.wiki.load import load_wiki

ROOT = Path(__file__).resolve().parent.parent

METRICS = (
    "dram_pct", "l2_pct", "l1_pct", "compute_pct", "memory_pct", "fma_pct", "alu_pct", "lsu_pct",
    "issue_active_pct", "achieved_occupancy_pct", "stall_long_scoreboard", "stall_barrier",
)  # fmt: skip
FAMILIES = ("gemm", "softmax", "attention", "reduction", "elementwise", "transpose")
CHIPS = (("h100_sxm", "sm_90a"), ("a100_sxm_80gb", "sm_80"), ("b200", "sm_100a"))
RUNS_FOR_MEDIAN = 5
NOISE = 0.02


def made_up(methods: list[str], origin: str, count: int, seed: int) -> Iterator[bytes]:
    """Lines of one origin."""
    rng = random.Random(seed)
    machines = [f"{origin}-{n}" for n in range(4)]
    for number in range(count):
        chip, arch = rng.choice(CHIPS)
        gain = rng.uniform(-0.2, 0.6)
        before = rng.uniform(5e4, 5e6)
        dims = {"M": 2 ** rng.randint(6, 14), "N": 2 ** rng.randint(6, 14)}
        record = Outcome(
            method=rng.choice(methods),
            verdict="effective" if gain > NOISE else "harmful" if gain < -NOISE else "ineffective",
            kernel=rng.choice(FAMILIES),
            language=rng.choice(("cuda-cpp", "triton")),
            chip=chip, arch=arch, limiter=rng.choice(LIMITERS), dtype="fp16", dims=dims,
            dims_class=dims_class(dims), correct=True, integrity=True, gain=gain,
            gain_low=gain - 0.01, gain_high=gain + 0.01, predicted_gain=(0.05, 0.4),
            before_ns=before, after_ns=before * (1 - gain), baseline="torch-compile",
            baseline_ns=before * rng.uniform(0.4, 1.5),
            metrics_before={name: round(rng.uniform(1, 95), 3) for name in METRICS},
            metrics_after={name: round(rng.uniform(1, 95), 3) for name in METRICS},
            tunables={"BLOCK": 128, "STAGES": 3}, run=f"run_{number // 12}", version="v1",
            source_hash=f"{rng.getrandbits(256):064x}", device="cuda", driver="580.95",
            machine=rng.choice(machines), date=day(rng),
            measurement=str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        )  # fmt: skip
        yield write_line(Entry(id=record_id(record), origin=origin, record=record))


def day(rng: random.Random) -> str:
    return f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def make(folder: Path, records: int, origins: int) -> int:
    """One folder per origin; the bytes written."""
    methods = sorted(load_wiki([ROOT / "gpu-wiki"]).methods)
    size = 0
    for number in range(origins):
        count = records // origins + (number < records % origins)
        path = folder / f"origin-{number:02}" / "segment.jsonl"
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            file.writelines(made_up(methods, f"origin-{number:02}", count, number))
        size += path.stat().st_size
    return size


def kbs(home: Path, *arguments: str) -> tuple[float, float, str]:
    """Wall and CPU seconds of one command, and what it printed."""
    path = os.pathsep.join(str(ROOT / part) for part in ("", "engine", "ingest", "backends"))
    before = os.times()
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "kbs", "--home", str(home), *arguments],
        check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    wall = time.perf_counter() - started
    after = os.times()
    cpu = after.children_user + after.children_system
    return wall, cpu - before.children_user - before.children_system, done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--origins", type=int, default=50)
    parser.add_argument("--keep", type=Path, help="Work here and keep everything.")
    options = parser.parse_args()
    base = options.keep or Path(tempfile.mkdtemp(prefix="kbs-bench-"))
    home, logs = base / "home", base / "logs"
    found: dict[str, object] = {"records": options.records, "origins": options.origins}
    found["log_bytes"] = make(logs, options.records, options.origins)
    found["load_average"] = os.getloadavg()[0]
    names = sorted(str(path) for path in logs.iterdir())
    steps = {
        "ingest_without_experience": ("ingest", "--embedding-model", "none"),
        "merge": ("--json", "experience", "merge", *names),
        "ingest": ("ingest", "--embedding-model", "none"),
        "merge_again": ("--json", "experience", "merge", *names),
    }
    for name, arguments in steps.items():
        wall, cpu, out = kbs(home, *arguments)
        found[name] = {"wall_s": round(wall, 2), "cpu_s": round(cpu, 2)}
        if "merge" in name:
            report = json.loads(out)
            found[name] |= {"added": report["added"], "duplicates": report["duplicates"]}
    asked = (
        "--kernel",
        "softmax",
        "--language",
        "triton",
        "--chip",
        "h100_sxm",
        "--limiter",
        "dram",
    )
    for name, command in (("recommend", ()), ("experience_recommend", ("experience",))):
        runs = [kbs(home, *command, "recommend", *asked) for _ in range(RUNS_FOR_MEDIAN)]
        runs.sort()
        wall, cpu, _ = runs[RUNS_FOR_MEDIAN // 2]
        found[name] = {"wall_s": round(wall, 2), "cpu_s": round(cpu, 2)}
    print(json.dumps(found, indent=2))
    if not options.keep:
        shutil.rmtree(base)


if __name__ == "__main__":
    main()
