"""The planted bench: truth and cases agree, ids are known, names give nothing away."""

from __future__ import annotations

import importlib
import re
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.probes.selection import of_the_week

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAIRS = {"truth_cuda.yaml": "cuda_cases", "truth_triton.yaml": "triton_cases"}
PRESENT = {t: m for t, m in PAIRS.items() if (HERE / t).exists() and (HERE / f"{m}.py").exists()}
AXES = {"memory", "compute", "latency", "measured"}
WORK = {"kernel", "dtype", "permitted", "flops", "bytes_in", "bytes_out"}


def vocabulary(heading: str) -> set[str]:
    """Ids in the first column of the table under ``heading`` of the vocabulary."""
    text = (ROOT / "docs" / "vocabulary.md").read_text(encoding="utf-8")
    part = text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


SYMPTOMS = vocabulary("Symptoms")
METHODS = vocabulary("Methods")


def enumeration(name: str) -> set[str]:
    text = (ROOT / "docs" / "vocabulary.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
    return set(re.findall(r"`(\w+)`", row))


@cache
def truth_of(name: str) -> dict:
    return yaml.safe_load((HERE / name).read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def planted_on_path(monkeypatch):
    for folder in (HERE, ROOT / "tools"):
        monkeypatch.syspath_prepend(str(folder))
    yield
    for name in [*PAIRS.values(), "case"]:
        sys.modules.pop(name, None)


def entries():
    return [(t, name, entry) for t in PRESENT for name, entry in truth_of(t).items()]


@pytest.mark.parametrize("truth", PRESENT)
def test_every_case_has_a_truth_and_every_truth_a_case(truth):
    cases = [case.name for case in importlib.import_module(PRESENT[truth]).CASES]
    assert len(cases) == len(set(cases))
    assert sorted(cases) == sorted(truth_of(truth))


@pytest.mark.parametrize(("truth", "name", "entry"), entries())
def test_ids_are_in_the_vocabulary(truth, name, entry):
    planted = entry.get("planted", [])
    causes = planted if entry["cause"] == "measured" else entry["cause"]
    assert set(causes) <= SYMPTOMS
    methods = entry["methods"]
    if isinstance(methods, dict):
        assert sorted(methods) == sorted(planted)
        methods = [method for group in methods.values() for method in group]
    assert set(methods) <= METHODS
    axes = entry["axis"] if isinstance(entry["axis"], list) else [entry["axis"]]
    assert set(axes) <= set(AXES)


@pytest.mark.parametrize(("truth", "name", "entry"), entries())
def test_healthy_means_near_a_roof_and_nothing_else(truth, name, entry):
    if entry["cause"] == "measured":
        assert len(entry["planted"]) == 2
        assert not entry["healthy"]
    else:
        assert entry["healthy"] == (set(entry["cause"]) <= {"at_memory_roof", "at_compute_roof"})
        assert entry["cause"]


@pytest.mark.parametrize(("truth", "name", "entry"), entries())
def test_work_is_complete(truth, name, entry):
    work = entry["work"]
    assert set(work) >= WORK
    assert work["kernel"] in enumeration("kernel family")
    assert {work["dtype"], *work["permitted"]} <= enumeration("dtype")
    assert min(work["bytes_in"], work["bytes_out"]) >= 0
    assert work["bytes_in"] + work["bytes_out"] > 0


@pytest.mark.parametrize(("truth", "name", "entry"), entries())
def test_names_give_nothing_away(truth, name, entry):
    causes = entry.get("planted", []) if entry["cause"] == "measured" else entry["cause"]
    words = {word for cause in causes for word in [*cause.split("_"), cause.replace("_", "")]}
    assert not words & set(name.lower().split("_"))
    assert not any(symptom in name for symptom in SYMPTOMS)


def test_the_bench_is_large_enough():
    found = [entry for _, _, entry in entries()]
    if len(PRESENT) < len(PAIRS):
        pytest.skip("one of the two halves is not here")
    twice = [entry for entry in found if entry["cause"] == "measured"]
    healthy = [entry for entry in found if entry["healthy"]]
    assert len(healthy) >= 10
    assert len(twice) >= 10
    assert len(found) - len(healthy) - len(twice) >= 40


SAMPLE = pytest.param("sample")
ALL = pytest.param("all", marks=pytest.mark.sweep)


@pytest.mark.compilers
@pytest.mark.slow
@pytest.mark.parametrize("which", [SAMPLE, ALL])
def test_every_triton_kernel_is_launched_and_compiles_for_sm_90(which):
    pytest.importorskip("triton")
    cross = importlib.import_module("cross_compile")
    cases = importlib.import_module("triton_cases").CASES
    chosen = of_the_week(
        [case.name for case in cases], len(cases) // (4 if which == "sample" else 1)
    )
    done: set = set()
    for case in cases:
        for variant, launches in cross.launches_of(case).items():
            assert launches or truth_of("truth_triton.yaml")[case.name]["healthy"], variant
            for launch in launches if case.name in chosen else ():
                if launch.key() not in done:
                    done.add(launch.key())
                    assert "cubin" in cross.compiled(launch).asm, (case.name, variant)
