"""The holdout: cases and truth agree, ids are known, names give nothing away, Triton compiles."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest
import yaml

from tests.probes.selection import of_the_week

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TRUTH = yaml.safe_load((HERE / "truth.yaml").read_text(encoding="utf-8"))
WORK = {"kernel", "dtype", "permitted", "flops", "bytes_in", "bytes_out"}
ROOFS = {"at_memory_roof", "at_compute_roof"}


def table(heading: str) -> set[str]:
    """Ids in the first column of the table under ``heading`` of the vocabulary."""
    text = (ROOT / "docs" / "vocabulary.md").read_text(encoding="utf-8")
    part = text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def enumeration(name: str) -> set[str]:
    text = (ROOT / "docs" / "vocabulary.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
    return set(re.findall(r"`(\w+)`", row))


SYMPTOMS, METHODS = table("Symptoms"), table("Methods")


@pytest.fixture
def holdout(monkeypatch):
    """The holdout's case modules, which bear the names of the bench's own."""
    folders = (HERE.parent, HERE)
    mine = {"cuda_cases", "triton_cases", "case", "holdout_loader", "cross_compile"}

    def forget():
        for name in [n for n in sys.modules if n in mine or n.startswith(("holdout_", "cuda_in"))]:
            del sys.modules[name]

    for folder in folders:
        monkeypatch.syspath_prepend(str(folder))
    forget()
    yield importlib.import_module
    forget()


def test_every_cuda_case_has_a_truth_a_source_and_nothing_is_left_over(holdout):
    cases = [case.name for case in holdout("cuda_cases").CASES]
    assert len(cases) == len(set(cases))
    assert sorted(cases) == sorted(name for name in TRUTH if name.startswith("h5"))
    assert sorted(cases) == sorted(path.stem for path in (HERE / "kernels").glob("*.cu"))


def test_every_triton_case_has_a_truth_and_every_truth_a_case(holdout):
    pytest.importorskip("triton")
    cases = [case.name for case in holdout("triton_cases").CASES]
    assert len(cases) == len(set(cases))
    assert sorted(cases) == sorted(name for name in TRUTH if name.startswith("h6"))


@pytest.mark.parametrize("name", TRUTH)
def test_truth_uses_known_ids_only(name):
    entry = TRUTH[name]
    work = entry["work"]
    assert entry["cause"]
    assert set(entry["cause"]) <= SYMPTOMS
    assert set(entry["methods"]) <= METHODS
    assert entry["healthy"] == (set(entry["cause"]) <= ROOFS)
    assert bool(entry["methods"]) != entry["healthy"]
    assert entry["axis"] in enumeration("axis")
    assert set(work) == WORK
    assert work["kernel"] in enumeration("kernel family")
    assert {work["dtype"], *work["permitted"]} <= enumeration("dtype")
    assert work["bytes_in"] + work["bytes_out"] > 0


@pytest.mark.parametrize("name", TRUTH)
def test_names_give_nothing_away(name):
    number, word = name.split("_")
    assert re.fullmatch(r"h[56]\d\d", number)
    assert word not in {part for symptom in SYMPTOMS for part in symptom.split("_")}
    assert word not in {part for method in METHODS for part in method.split("_")}


def test_the_holdout_is_wide_enough():
    faulty = {name: entry for name, entry in TRUTH.items() if not entry["healthy"]}
    assert len(faulty) >= 20
    assert len(TRUTH) - len(faulty) >= 5
    assert len({entry["cause"][0] for entry in faulty.values()}) >= 15
    assert sum(name.startswith("h6") for name in faulty) >= 8
    assert sum(name.startswith("h5") for name in faulty) >= 12


SAMPLE = pytest.param("sample")
ALL = pytest.param("all", marks=pytest.mark.sweep)


@pytest.mark.compilers
@pytest.mark.slow
@pytest.mark.parametrize("which", [SAMPLE, ALL])
def test_every_triton_kernel_is_launched_and_compiles_for_sm_90(which, holdout):
    pytest.importorskip("triton")
    cross = holdout("cross_compile")
    cases = holdout("triton_cases").CASES
    chosen = of_the_week(
        [case.name for case in cases], len(cases) // (4 if which == "sample" else 1)
    )
    done: set = set()
    for case in cases:
        for variant, launches in cross.launches_of(case).items():
            assert launches or TRUTH[case.name]["healthy"], (case.name, variant)
            for launch in launches if case.name in chosen else ():
                if launch.key() not in done:
                    done.add(launch.key())
                    assert "cubin" in cross.compiled(launch).asm, (case.name, variant)
