"""Work sidecars beside a report: ids that occur more than once, and contradicting GPUs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs.sidecars import with_work
from kbs_engine.profiles import Profile, Report
from kbs_engine.work import Work
from kbs_ingest.readers.identity import renumber
from kbs_ingest.readers.launches import Launch
from kbs_ingest.work_file import WorkFile

SIDECAR = WorkFile(launches={number: Work(flops=float(number)) for number in range(4)})


def report_of(launches):
    """A report whose launches are (id, kernel, grid), numbered as readers number them."""
    found = [Launch(number=number, name=name) for number, name, _ in launches]
    reported = renumber(found)
    profiles = tuple(
        Profile(name=one.name, launch=one.number, metrics={"grid_size": grid}, flags=(*one.flags,))
        for one, (_, _, grid) in zip(found, launches, strict=True)
    )
    return Report(path="r.csv", format="ncu-raw-csv", profiles=profiles, reported=reported)


launches = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(["gemm", "norm"]), st.sampled_from([1.0, 2.0])),
    max_size=8,
)


@given(launches)
def test_every_launch_gets_a_number_of_its_own_and_an_id_that_occurs_once_stays(rows):
    report = report_of(rows)
    numbers = [one.launch for one in report.profiles]
    assert len(set(numbers)) == len(numbers)
    ids = [number for number, _, _ in rows]
    for (stated, _, _), profile in zip(rows, report.profiles, strict=True):
        alone = ids.count(stated) == 1
        assert report.reported.get(profile.launch) == (None if alone else stated)
        assert profile.launch == stated or not alone
        told = f"id {stated} occurs more than once; numbered {profile.launch} here"
        assert profile.flags == (() if alone else (told,))


@given(launches)
def test_work_by_launch_goes_to_the_id_of_the_report_or_to_nobody(rows):
    found = with_work(report_of(rows), SIDECAR, Path("r.csv"))
    for row, (profile, work) in zip(rows, found, strict=True):
        clear = len({other[1:] for other in rows if other[0] == row[0]}) == 1
        assert work == (SIDECAR.launches.get(row[0]) if clear else None)
        left_out = any("sidecar's entry" in flag for flag in profile.flags)
        assert left_out == (not clear and row[0] in SIDECAR.launches)


def test_work_by_name_is_found_where_the_id_is_of_no_use():
    sidecar = WorkFile(launches={0: Work(flops=1.0)}, kernels={"norm": Work(flops=2.0)})
    found = with_work(report_of([(0, "gemm", 1.0), (0, "norm", 1.0)]), sidecar, Path("r.csv"))
    assert [work.flops if work else None for _, work in found] == [None, 2.0]


def test_a_row_that_stands_twice_moves_no_work(kbs_here, report, tmp_path):
    raw = report.with_suffix(".raw.csv")
    rows = raw.read_text().splitlines()
    path = tmp_path / "dup.csv"
    path.write_text("\n".join([*rows[:3], rows[2], *rows[3:]]) + "\n")
    path.with_suffix(".work.yaml").write_text(report.with_suffix(".work.yaml").read_text())
    given, shipped = (
        {one["launch"]: one["roofline"] for one in ran.json["kernels"]}
        for ran in (kbs_here("roofline", path, "--json"), kbs_here("roofline", raw, "--json"))
    )
    assert sorted(given) == [0, 1, 2, 3, 4, 5]
    for number, roofline in shipped.items():
        assert given[number]["roofs"] == roofline["roofs"]
    assert given[5]["roofs"] == given[0]["roofs"]
    assert "id 0 occurs more than once; numbered 5 here" in given[5]["flags"]


A100 = "the work sidecar names a100_sxm_80gb, "
H999 = "the work sidecar's chip: gpu-wiki knows no GPU named 'NVIDIA H999'"


@pytest.mark.parametrize(
    ("named", "form", "options", "told"),
    [
        ("NVIDIA A100-SXM4-80GB", "raw.csv", [], A100 + "the report NVIDIA H100 80GB HBM3"),
        ("NVIDIA A100-SXM4-80GB", "details.csv", [], A100 + "but the report's compute capability"),
        ("NVIDIA A100-SXM4-80GB", "details.csv", ["--chip", "h100_sxm"], A100 + "--chip h100_sxm"),
        ("NVIDIA H999", "raw.csv", [], H999),
        ("NVIDIA H100 80GB HBM3", "raw.csv", [], None),
        ("h100_sxm", "raw.csv", ["--chip", "NVIDIA H100 80GB HBM3"], None),
        ("h100_sxm", "details.csv", [], None),
    ],
)  # fmt: skip
def test_a_gpu_that_contradicts_the_one_that_counts_is_told(
    kbs_here, report, tmp_path, named, form, options, told
):
    sidecar = tmp_path / "w.yaml"
    sidecar.write_text(f"chip: {named}\n")
    file = report.with_suffix(f".{form}")
    ran = kbs_here("diagnose", file, "--work", sidecar, *options, "--launch", 1, "--json")
    (kernel,) = ran.json["kernels"]
    assert kernel["chip"] == (None if told and told.startswith(A100 + "but") else "h100_sxm")
    flags = [flag for flag in kernel["flags"] if "sidecar" in flag]
    assert len(flags) == (1 if told else 0)
    assert not told or flags[0].startswith(told)


def test_a_named_gpu_that_contradicts_a_report_without_one_is_told(kbs_here, report):
    file = report.with_suffix(".details.csv")
    ran = kbs_here("diagnose", file, "--chip", "a100_sxm_80gb", "--launch", 1, "--json")
    flag = "--chip a100_sxm_80gb: the report's compute capability is 9.0, that chip is sm_80"
    assert flag in ran.json["kernels"][0]["flags"]


def test_an_unknown_gpu_of_a_sidecar_is_refused_by_its_name(kbs_here, report, tmp_path):
    sidecar = tmp_path / "w.yaml"
    sidecar.write_text("chip: NVIDIA H999\n")
    ran = kbs_here("diagnose", report.with_suffix(".details.csv"), "--work", sidecar)
    assert (ran.code, ran.out) == (1, "")
    assert "chip: of the work sidecar" in ran.err
