"""What cannot be true is doubted; what is merely large is not."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.experience import Physics, doubt, record_id
from kbs_engine.experience.quarantine import physics_of
from kbs_engine.outcomes import with_gain
from kbs_ingest.experience import Lore, merge
from kbs_ingest.experience.query import Reading
from kbs_ingest.experience.stats import stats
from tests.experience.records import entries, outcome
from tests.experience.test_merge_laws import _write

CHIP = Physics(
    chip="test",
    arch="sm_90a",
    bandwidth_bytes_per_s=1e12,
    cache_bytes=1e6,
    ops_per_s={"fp16": 1e14, "fp8": 2e14},
    empty_launch_ns=2000.0,
)


def over_v0(factor, after_ns=60_000.0, **changes):
    return outcome(gain=1 - 1 / factor, before_ns=after_ns * factor, after_ns=after_ns, **changes)


@pytest.mark.parametrize("factor", [1.02, 11.0, 11.72, 700.0, 731.0])
@pytest.mark.parametrize("verified", [True, False])
def test_honest_factors_over_a_naive_v0_are_believed(factor, verified):
    assert doubt(over_v0(factor, verified=verified), CHIP) is None
    bare = outcome(gain=1 - 1 / factor, before_ns=None, after_ns=None, verified=verified)
    assert doubt(bare, CHIP) is None


def test_an_honest_record_near_the_floor_is_believed():
    found = over_v0(11, after_ns=110_000.0, bytes_in=51e6, bytes_out=51e6)  # floor: 100 us
    assert doubt(found, CHIP) is None
    assert doubt(over_v0(2, after_ns=96_000.0, bytes_in=51e6, bytes_out=51e6), CHIP) is None


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (over_v0(11, after_ns=50_000.0, bytes_in=51e6, bytes_out=51e6), "physics floor of 100000"),
        (over_v0(2, after_ns=900.0), "shorter than any launch"),
        (over_v0(2, kernel="gemm", flops=1e12, dims={}), "physics floor"),
        (over_v0(2, kernel="gemm", dims={"m": 8192, "n": 8192, "k": 8192}), "physics floor"),
        (over_v0(2, floor_ns=90_000.0), "that it states"),
        (over_v0(2, baseline="torch-compile", baseline_ns=7e5), "11.7 times as fast as torch"),
        (outcome(metrics_after={"dram_pct": 300.0}), "dram_pct is 300 %"),
        (outcome(gain=0.9), "claims 10 times, its own times say 1.33"),
        (outcome(gain=-0.1, before_ns=None, after_ns=None), "called effective"),
        (outcome(verdict="harmful", gain=0.2, before_ns=None), "called harmful"),
        (outcome(gain=1 - 1e-6, before_ns=None, after_ns=None), "without the times"),
        (outcome(verdict="harmful", gain=None, gain_low=0.1, before_ns=None), "at least 0.1"),
        (outcome(gain=None, gain_high=-0.1, before_ns=None, after_ns=None), "at most -0.1"),
        (outcome(verdict="ineffective"), "called ineffective at a gain of 0.25"),
        (outcome(gain_low=0.8, gain_high=0.9), "whose low end is 0.8"),
        (outcome(gain_low=0.1, gain_high=0.2), "whose high end is 0.2"),
        (outcome(chip="test", arch="sm_80"), "test is of architecture sm_90a, not sm_80"),
        (outcome(arch="gfx942", chip="mi300x", device="cuda"), "no architecture of cuda"),
        (outcome(flops=-1.0), "no amount of work"),
        (over_v0(10_000), "its times say 1e+04 times"),
        (over_v0(1001, kernel="gemm", dims={"m": "big"}), "no floor, work or library baseline"),
    ],
)
def test_what_cannot_be_true_is_doubted_with_its_reason(found, told):
    physics = None if found.chip == "mi300x" else CHIP
    assert told in (doubt(found, physics) or "")


@pytest.mark.parametrize(
    "found",
    [
        outcome(arch="sm_90"),
        outcome(arch=""),
        outcome(gain_low=0.251, gain_high=0.3),
        outcome(gain_low=0.2),
        outcome(verdict="ineffective", verified=False),
        outcome(verdict="ineffective", gain=0.3, gain_low=-0.1, gain_high=0.5,
                before_ns=None, after_ns=None),
        outcome(verdict="ineffective", gain=-0.5, before_ns=None, after_ns=None),
        outcome(verdict="inseparable"),
    ],
)  # fmt: skip
def test_what_digits_and_words_leave_open_is_no_contradiction(found):
    assert doubt(found, CHIP) is None


@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300))
def test_a_gain_that_is_not_told_is_that_of_the_times(before, after):
    bare = outcome(gain=None, before_ns=before, after_ns=after)
    found = with_gain(bare).gain
    assert found == pytest.approx(1 - after / before) if found is not None else True
    assert (found is None) == (not -math.inf < 1 - after / before < 1)
    assert with_gain(outcome(gain=0.1, before_ns=before, after_ns=after)).gain == 0.1


def test_a_gain_that_is_not_told_counts_without_another_id(tmp_path):
    log, home = tmp_path / "log.jsonl", tmp_path / "home"
    bare = outcome(gain=None)
    _write(log, entries(bare, outcome(gain=None, after_ns=9e4, measurement="slower")))
    (bad,) = merge(home, [log], lore=Lore(), origin="me").quarantined
    assert "called effective at a gain of -0.125" in bad.reason
    rows = {row.id: row for row in Reading(home, Lore()).rows()}
    assert rows[record_id(bare)].outcome.gain == pytest.approx(0.25)
    (method,) = stats(home, Lore()).methods
    assert method.mean_gain == pytest.approx(0.25)


@pytest.mark.parametrize(
    "shown",
    [
        {"floor_ns": 50_000.0},
        {"baseline": "torch-compile", "baseline_ns": 70_000.0},
        {"bytes_in": 40e6, "bytes_out": 10e6},
        {"kernel": "gemm", "dims": {"M": 512, "N": 512, "K": 512}},
    ],
)
def test_a_vast_factor_stays_where_something_bounds_its_times(shown):
    assert doubt(over_v0(2000, **shown), CHIP) is None


def test_a_vast_factor_on_an_unknown_chip_is_doubted():
    assert doubt(over_v0(2000, kernel="gemm", dims={"M": 512, "N": 512, "K": 512})) is not None


def test_a_kernel_that_may_skip_work_has_no_floor_of_counted_work():
    found = over_v0(2, kernel="sparse", flops=1e12, bytes_in=51e6, bytes_out=51e6, dims={})
    assert doubt(found, CHIP) is None


def test_what_a_host_timed_is_not_held_against_a_gpu():
    assert doubt(over_v0(2, after_ns=300.0, device="host"), CHIP) is None


def test_an_unknown_chip_doubts_only_what_contradicts_itself():
    assert doubt(over_v0(11, after_ns=1.0, kernel="gemm", flops=1e12)) is None
    assert doubt(outcome(gain=0.9)) is not None


def test_the_best_baseline_of_the_task_holds_for_records_that_state_none(tmp_path):
    """Whichever file comes first: the view does not depend on the order."""
    honest = [
        outcome(baseline="flashinfer", baseline_ns=7e5, after_ns=100_000.0, before_ns=2e5,
                gain=0.5, measurement="h", machine=machine)
        for machine in ("m1", "m2")
    ]  # fmt: skip
    poison = outcome(after_ns=60_000.0, measurement="p")
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, records in zip(files, (honest, [poison]), strict=True):
        _write(path, entries(*records))
    for name, order in (("one", files), ("two", files[::-1])):
        report = merge(tmp_path / name, order, lore=Lore(), origin="me")
        (bad,) = report.quarantined
        assert bad.file == str(files[1])
        assert "11.7 times as fast" in bad.reason


def test_a_baseline_that_somebody_made_up_hurts_nobody_else():
    slow_library = {("transpose", "h100_sxm", "", '{"M":4096,"N":4096}'): 1.0}
    assert Lore().doubt(outcome(), slow_library) is None


def test_bounds_of_a_real_chip_come_from_its_page(chip):
    found = physics_of(chip("h100_sxm"))
    assert found.bandwidth_bytes_per_s == pytest.approx(3.35e12, rel=0.02)
    assert found.ops_per_s["fp16"] == pytest.approx(989e12, rel=0.02)
    assert found.cache_bytes == pytest.approx(50e6, rel=0.05)
    assert found.empty_launch_ns is not None


@given(st.floats(1.0, 900.0), st.floats(1e4, 1e9))
def test_a_consistent_record_above_every_floor_is_never_doubted(factor, after_ns):
    found = doubt(over_v0(factor, after_ns=after_ns + 1), CHIP)
    assert found is None or found == "called effective at a gain of 0"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"chip": "nosuch", "arch": ""}, "knows no chip 'nosuch'"),
        ({"chip": "", "arch": ""}, "knows no chip ''"),
        ({"chip": "nosuch", "arch": "", "verified": False}, "knows no chip"),
        ({"chip": "nosuch", "arch": "sm_xyz"}, "'sm_xyz' is no architecture"),
        ({"chip": "nosuch", "arch": "sm_999"}, ""),
        ({"chip": "nosuch", "arch": "gfx90a"}, ""),
        ({"chip": "H100", "arch": ""}, ""),  # a GPU that there is, of several forms
        ({"chip": "H100 SXM", "arch": ""}, ""),
        ({"chip": "", "arch": "", "verified": False}, ""),  # as an older log may be
        ({"chip": "nosuch", "arch": "", "device": "host"}, ""),
        ({"dims": {"M": "4096"}}, "'M' is no size: '4096'"),
        ({"dims": {"N": "x"}}, "'N' is no size: 'x'"),
        ({"dims": {"axis": "-1"}}, "'axis' is a number in quotes"),
        ({"dims": {"axis": -1, "layout": "nt", "causal": True}}, ""),
    ],
)
def test_a_gpu_that_no_page_names_and_sizes_that_are_none(wiki, changes, told):
    lore = Lore.of_wiki(wiki)
    why = lore.doubt(lore.resolve(outcome(before_ns=None, after_ns=None, **changes)), {})
    assert (why is None) == (not told), why
    assert told in (why or "")


def test_a_log_without_a_wiki_doubts_no_chip():
    assert Lore().doubt(outcome(chip="nosuch", arch=""), {}) is None


def test_a_bare_record_of_no_gpu_is_kept_and_counts_for_nothing(kbs_here, tmp_path):
    path, home = tmp_path / "bare.jsonl", tmp_path / "home"
    line = (
        '{"method":"split_k","verdict":"effective","kernel":"softmax","language":"triton",'
        '"chip":"%s","correct":true,"integrity":true,"before_ns":100000.0,"after_ns":60000.0,'
        '"date":"2026-06-01"}\n'
    )
    path.write_text(line % "nosuch" + line % "H100", encoding="utf-8")
    report = kbs_here("--json", "experience", "merge", path, at=home).json
    assert (report["added"], [bad["line"] for bad in report["quarantined"]]) == (2, [1])
    rows = kbs_here("--json", "experience", "list", "--all", at=home).json["outcomes"]
    assert sorted(row["state"] for row in rows) == ["counts", "quarantined"]
