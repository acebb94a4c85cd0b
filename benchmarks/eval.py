"""How long evaluations take, and how the time grows with kernels and cases.

Copies the launches of the shipped report, and repeats a few questions, in one process.
    python benchmarks/eval.py [--json FILE] [--kernels 1000] [--cases 20]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "tests/data/reports/h100_triton_torch.ncu-rep"
TRUTH = ROOT / "tests/eval/h100_triton_torch.truth.yaml"
for part in ("", "engine", "ingest", "backends"):
    sys.path.insert(0, str(ROOT / part))

from kbs.evaluating import evaluate_recommend  # noqa: E402
from kbs.subjects import Selection, read_subjects  # noqa: E402
from kbs_engine.diagnose import diagnose  # noqa: E402
from kbs_engine.evaluation.cases import EvalCase, Labels, Question  # noqa: E402
from kbs_engine.evaluation.diagnosis import PREDICTORS, label, score  # noqa: E402
from kbs_ingest.store import ingest, open_store  # noqa: E402
from kbs_ingest.truth_file import read_truth  # noqa: E402

QUESTIONS = (
    Question(
        kernel="transpose",
        family="transpose",
        language="cuda-cpp",
        metrics={"store_sectors_per_request": 32.0},
        text="stores walk down a column",
    ),
    Question(kernel="gemm", family="gemm", language="triton", metrics={"tensor_pct": 12.0}),
    Question(kernel="softmax", family="softmax", text="the row is read three times"),
    Question(metrics={"Achieved Occupancy": 22.0, "Registers Per Thread": 168.0}),
)


def timed_diagnosis(store: Any, kernels: int) -> list[dict[str, Any]]:
    """Diagnose and score ``kernels`` launches."""
    subjects = read_subjects([REPORT], Selection(), store)
    truth = read_truth(TRUTH, {rule.id: rule.axis for rule in store.rules()})
    many = [subjects[number % len(subjects)] for number in range(kernels)]
    start = time.perf_counter()
    found = diagnose(many, store)
    diagnosed = time.perf_counter()
    cases = [
        label(item.diagnosis, truth.entries[item.diagnosis.launch], report="r") for item in found
    ]
    for name in PREDICTORS:
        score(cases, name)
    end = time.perf_counter()
    return [
        {"name": f"diagnose {kernels} kernels", "seconds": diagnosed - start},
        {"name": f"claims and scores of {kernels} kernels", "seconds": end - diagnosed},
    ]


def timed_recommendation(store: Any, count: int) -> list[dict[str, Any]]:
    """Ask every recommender ``count`` questions; texts differ, so that nothing is remembered."""
    cases = [
        EvalCase(
            id=str(number),
            line=1,
            question=Question(
                kernel=one.kernel,
                family=one.family,
                language=one.language,
                metrics=one.metrics,
                text=f"{one.text} {number}",
            ),
            labels=Labels(worked=("coalesced_access",)),
        )
        for number in range(count)
        for one in (QUESTIONS[number % len(QUESTIONS)],)
    ]
    start = time.perf_counter()
    evaluate_recommend(cases, store, as_of=date(2026, 1, 31), bar=0.05)
    whole = time.perf_counter() - start
    return [
        {"name": f"eval recommend, {count} cases", "seconds": whole},
        {"name": "eval recommend, each case", "seconds": whole / count},
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--kernels", type=int, default=1000)
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--home", type=Path, help="an index that is there; default: a new one")
    parser.add_argument("--embedding-model", default="none")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kbs-bench-") as folder:
        home = options.home or Path(folder)
        if options.home is None:
            ingest(home, [ROOT / "gpu-wiki"], embedding_model=options.embedding_model)
        with open_store(home) as store:
            rows = timed_diagnosis(store, options.kernels)
            rows += timed_recommendation(store, options.cases)
            model = store.manifest.model
    for row in rows:
        row["seconds"] = round(row["seconds"], 4)
        print(f"{row['name']:45} {row['seconds']:10.3f} s")
    record = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "model": model,
        "rows": rows,
    }
    if options.json:
        options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
