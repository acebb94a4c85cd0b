"""A chip that is named: another part of one name, and another vendor than the report's."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("name", ["NVIDIA L40", "L40", "MI355", "NVIDIA H2", "RTX 6000"])
def test_a_lone_candidate_is_never_offered_as_ambiguous(kbs_here, name):
    ran = kbs_here("specs", name)
    assert ran.code == 1, ran
    assert "does not say which GPU" not in ran.err or ", " in ran.err.split("which GPU:")[1]
    assert ran.out == ""


@pytest.mark.parametrize("name", ["NVIDIA L40", "L40", "MI355"])
def test_another_part_is_refused_as_unknown(kbs_here, name):
    assert "gpu-wiki knows no GPU named" in kbs_here("specs", name).err


@pytest.mark.parametrize("command", ["diagnose", "roofline"])
def test_a_chip_of_another_vendor_than_the_report_is_refused(kbs_here, report, command):
    ran = kbs_here(command, report, "--chip", "mi300x", "--launch", "0")
    assert (ran.code, ran.out) == (2, "")
    assert "AMD Instinct MI300X is of amd, the report is of a GPU of nvidia" in ran.err
    assert kbs_here(command, report, "--chip", "h100_sxm", "--launch", "0").code == 0


@pytest.mark.parametrize("told", [["--text", "bank conflicts"], ["--metric", "dram_pct=90"]])
def test_a_chip_that_nobody_knows_is_refused_without_a_report_too(kbs_here, told):
    ran = kbs_here("recommend", *told, "--chip", "h9000")
    assert (ran.code, ran.out) == (1, "")
    assert "gpu-wiki knows no GPU named" in ran.err
    assert kbs_here("recommend", *told, "--chip", "h100").code == 0


def test_a_device_name_that_contradicts_the_compute_capability_is_not_believed(
    kbs_here, report, tmp_path
):
    text = report.with_suffix(".raw.csv").read_text()
    path = tmp_path / "other.csv"
    path.write_text(text.replace("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB"))
    for command in ("diagnose", "recommend"):
        kernel = kbs_here(command, path, "--launch", "4", "--json").json["kernels"][0]
        kernel = kernel.get("diagnosis", kernel)
        assert kernel["chip"] is None
        assert any(
            "its compute capability is 9.0, that chip is sm_80" in f for f in kernel["flags"]
        )
    named = kbs_here("diagnose", path, "--launch", "4", "--chip", "h100_sxm", "--json")
    (flag,) = [f for f in named.json["kernels"][0]["flags"] if "--chip" in f]
    assert flag == "--chip h100_sxm overrides a100_sxm_80gb, which the report names"
    forced = kbs_here("diagnose", report, "--launch", "4", "--chip", "a100_sxm_80gb", "--json")
    assert any("is 9.0" in flag for flag in forced.json["kernels"][0]["flags"])
