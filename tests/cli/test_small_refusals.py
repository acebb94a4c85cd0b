"""Words, days, sizes and places that are none are refused, with what would be one."""

from __future__ import annotations

import pytest

from kbs.measuring.dims import read_dims
from kbs.render.experience import percent
from kbs_engine.limiter import busy_share

ADD = ("experience", "add", "--method", "split_k", "--verdict", "ineffective", "--kernel", "gemm",
       "--language", "triton", "--chip", "h100_sxm", "--correct", "--integrity")  # fmt: skip


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("query", "x", "--kind", "nonsense"), "is none of"),
        (("query", "x", "--arch", "sm_999"), "is none of"),
        (("specs", "h100_sxm", ""), "METRIC is empty"),
        ((*ADD, "--date", "0001-01-01"), "before 2000-01-01"),
        ((*ADD, "--dims", "M=-1"), "'M' is no size: -1"),
        ((*ADD, "--metrics-before", "dram_pct=nan"), "--metrics-before dram_pct is no number: nan"),
        ((*ADD, "--metrics-after", "dram_pct=true"), "--metrics-after dram_pct is no number"),
        ((*ADD, "--before-ns", "\uff11\uff12"), "no number in digits 0 to 9"),
        (("recommend", "--kernel", "gemm", "--bytes-in", "\uff11"), "no number in digits 0 to 9"),
    ],
)
def test_each_is_told(kbs_here, words, told):
    ran = kbs_here(*words)
    assert ran.code == 2, ran.out
    assert told in ran.err
    assert "bug in kbs" not in ran.err


@pytest.mark.parametrize("arch", ["sm_90a", "sm_90"])
def test_an_architecture_may_be_told_without_its_letter(kbs_here, arch):
    ran = kbs_here("query", "tensor cores", "--arch", arch, "--kind", "method", "--json")
    assert ran.code == 0
    assert ran.json["results"]


def test_a_home_that_is_a_file_is_refused(monkeypatch, tmp_path):
    from kbs.home import home_folder
    from kbs_engine.errors import UsageError

    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KBS_HOME", str(tmp_path / "file"))
    with pytest.raises(UsageError, match="is no folder"):
        home_folder(None)


def test_an_axis_below_zero_is_no_size(kbs_here, tmp_path):
    assert kbs_here(*ADD, "--dims", "M=8,axis=-1", at=tmp_path / "home").code == 0


def test_digits_of_other_scripts_are_no_dim():
    assert read_dims(["M=\uff11\uff12"]) == {"M": "\uff11\uff12"}


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.9995, "×2e+03"), (0.998, "+99.8%"), (0.25, "+25.0%"), (-1.0, "-100.0%"), (0.0, "+0.0%")],
)
def test_no_share_rounds_to_all(share, shown):
    assert percent(share) == shown


def test_a_unit_that_was_read_above_its_peak_is_not_clipped():
    assert busy_share("dram", 1.0, {"dram_pct": 8138.0}) == 81.38
    assert busy_share("latency", 0.4, {"dram_pct": 40.0}) == 0.4
    assert busy_share("mixed", 1.0, {"compute_pct": 130.0}) == 1.3
