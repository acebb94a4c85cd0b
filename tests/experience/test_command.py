"""kbs experience from the outside."""

from __future__ import annotations

import json
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbs_engine.experience import entry_of, write_line
from kbs_ingest.experience import Lore, append, merge
from tests.experience.records import outcome
from tests.experience.test_legacy import ENTRY

ADD = (
    "experience", "add", "--method", "split_k", "--verdict", "effective", "--kernel", "gemm",
    "--language", "triton", "--chip", "H100 SXM", "--limiter", "tensor", "--dims", "M=64,N=4096",
    "--before-ns", "90000", "--after-ns", "60000", "--predicted-gain", "0.1", "0.5",
    "--tunables", "SPLIT=4", "--machine", "m1",
)  # fmt: skip
VERDICTS = ("--correct", "--integrity")


@pytest.fixture
def mine(home, tmp_path):
    """A copy of the shared index for one test."""
    return shutil.copytree(home, tmp_path / "mine")


def test_a_record_without_its_verdicts_is_refused(kbs, tmp_path):
    home = tmp_path / "home"
    for given_ in ((), ("--correct",), ("--integrity",)):
        ran = kbs(*ADD, *given_, at=home)
        assert ran.code == 2
        assert "verdict on correctness and one on integrity" in ran.err
        assert "experience merge" in ran.err
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"method": "m", "verdict": "ineffective"}))
    assert kbs("experience", "add", path, at=home).code == 2
    assert not list(home.rglob("*.jsonl"))


def test_what_is_recorded_is_listed_searched_recommended_masked_and_exported(
    kbs_here, mine, tmp_path
):
    added = kbs_here("--json", *ADD, *VERDICTS, "--notes", "zebra", at=mine)
    assert added.code == 0, added.err
    (id_,) = added.json["added"]
    (row,) = kbs_here("--json", "experience", "search", "zebra", at=mine).json["outcomes"]
    assert (row["id"], row["state"], row["chip"], row["arch"]) == (
        id_, "counts", "h100_sxm", "sm_90a",
    )  # fmt: skip
    assert row["gain"] == pytest.approx(1 / 3)
    assert row["dims_class"] == "M=64,N=4096"
    ask = ("experience", "recommend", "--kernel", "gemm", "--backend", "triton", "--chip", "sm_90",
           "--bottleneck", "compute_bound", "--json")  # fmt: skip
    found = {
        row["method"]: row for row in kbs_here(*ask, "--top", "99", at=mine).json["recommendations"]
    }
    assert found["split_k"]["outcomes"] == {"helped": 1, "tried": 1, "machines": 1}
    assert found["split_k"]["tunables"] == {"SPLIT": 4}
    assert found["split_k"]["examples"] == [id_]
    masked = kbs_here("--json", "experience", "mask", id_[:10], "--reason", "throttled", at=mine)
    assert masked.json["targets"] == [id_]
    assert kbs_here("--json", "experience", "list", at=mine).json["outcomes"] == []
    (row,) = kbs_here("--json", "experience", "list", "--all", at=mine).json["outcomes"]
    assert (row["state"], row["why"]) == ("masked", "throttled")
    found = kbs_here(*ask, "--top", "99", at=mine).json["recommendations"]
    assert all(row["outcomes"]["tried"] == 0 for row in found)
    undone = kbs_here("--json", "experience", "unmask", id_[:10], at=mine).json
    assert undone["masks"] == [masked.json["mask"]]
    assert len(kbs_here("--json", "experience", "list", at=mine).json["outcomes"]) == 1
    out = tmp_path / "out.jsonl"
    assert kbs_here("experience", "export", out, at=mine).code == 0
    other = tmp_path / "other"
    report = kbs_here("--json", "experience", "merge", out, at=other).json
    assert (report["added"], report["rejected"]) == (3, [])


def test_a_merge_tells_what_it_did(kbs_here, mine, tmp_path):
    log = tmp_path / "log.json"
    poison = {
        **ENTRY,
        "kernel": "gemm",
        "speedup": 5.0e7,
        "metrics_before": {},
        "metrics_after": {},
    }
    honest = {**ENTRY, "speedup": 700.0, "metrics_before": {}, "metrics_after": {}}
    log.write_text(json.dumps([ENTRY, honest, poison, "words"], indent=0))
    ran = kbs_here("--json", "experience", "merge", log, at=mine)
    assert ran.code == 0, ran.err
    found = ran.json
    assert (found["added"], found["duplicates"]) == (3, 0)
    ((bad,), (wrong,)) = found["quarantined"], found["rejected"]
    assert bad["file"] == wrong["file"] == str(log)
    assert bad["reason"].startswith("entry 3: claims")
    assert "without the times" in bad["reason"]
    assert wrong["reason"] == "entry 4: not a JSON object"
    again = kbs_here("--json", "experience", "merge", log, at=mine).json
    assert (again["added"], again["duplicates"]) == (0, 3)
    text = kbs_here("experience", "merge", log, at=mine).out
    assert "0 added, 3 already here, 1 quarantined, 1 rejected" in text


@pytest.mark.parametrize(
    ("given_", "why"),
    [
        (("--verdict", "effective", "--speedup", "2000"), "claims 2e+03 times without the times"),
        (("--verdict", "harmful", "--before-ns", "100000", "--after-ns", "50000"),
         "called harmful at a gain of 0.5"),
        (("--verdict", "effective", "--before-ns", "1e9", "--after-ns", "1e5"), "1e+04 times"),
        (("--verdict", "effective", "--before-ns", "3e5", "--after-ns", "1e5"), ""),
    ],
)  # fmt: skip
def test_adding_tells_what_never_counts(kbs_here, mine, given_, why):
    words = ("experience", "add", "--method", "split_k", "--kernel", "reduction", "--language",
             "triton", "--chip", "h100_sxm", *VERDICTS, *given_)  # fmt: skip
    found = kbs_here(*words, "--json", at=mine).json
    assert [bad["id"] for bad in found["quarantined"]] == (found["added"] if why else [])
    assert all(why in bad["reason"] for bad in found["quarantined"])
    told = kbs_here(*words, at=mine).out
    assert ("quarantined" in told) == bool(why)
    assert why in told


def test_stats_of_host_outcomes_claim_nothing_of_machines(kbs_here, tmp_path):
    home = tmp_path / "home"
    assert "nothing is recorded yet" in kbs_here("experience", "stats", at=home).out
    append(home, [outcome(device="host", measurement=f"u{i}") for i in range(2)])
    told = kbs_here("experience", "stats", at=home).out
    assert "2 outcomes: 2 host" in told
    assert "none of them counts" in told
    assert "0 machines" not in told
    assert "0 origins" not in told
    append(home, [outcome()])
    assert (
        "what counts comes from 1 machine and 1 origin"
        in kbs_here("experience", "stats", at=home).out
    )


def test_stats_count_calibrate_and_plot(kbs_here, mine, tmp_path):
    home, path = mine, tmp_path / "log.jsonl"
    rows = [
        outcome(measurement=str(n), method=f"method_{n % 4}", predicted_gain=(0.1, 0.3),
                machine=f"m{n % 2}", date=f"2026-0{1 + n % 3}-01")
        for n in range(12)
    ]  # fmt: skip
    path.write_bytes(b"".join(write_line(entry_of(row, "team")) for row in rows))
    assert kbs_here("experience", "merge", path, at=home).code == 0
    found = kbs_here("--json", "experience", "stats", at=home).json
    assert found["states"] == {"counts": 12}
    assert (found["machines"], found["origins"]) == (2, {"team": 12})
    assert found["calibration"]["overall"]["coverage"] == 1.0
    assert [row["count"] for row in found["calibration"]["rows"]] == [3, 3, 3, 3]
    text = kbs_here("experience", "stats", at=home).out
    assert "12 outcomes: 12 counts" in text
    assert "█" in text
    assert "█" not in kbs_here("experience", "stats", "--no-plot", at=home).out
    assert max(map(len, text.splitlines())) <= 100


def test_an_exchange_is_told(kbs_here, mine, tmp_path):
    assert kbs_here(*ADD, *VERDICTS, at=mine).code == 0
    ran = kbs_here("--json", "experience", "sync", tmp_path / "shared", at=mine)
    assert len(ran.json["sent"]) == 1
    ran = kbs_here("experience", "sync", tmp_path / "shared", at=tmp_path / "b")
    assert "0 segments sent, 1 received" in ran.out


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("recommend",), 2, "nothing to recommend for"),
        (("recommend", "--kernel", "bananas"), 2, "is none of"),
        (("recommend", "--bottleneck", "bananas"), 2, "is none of"),
        (("recommend", "--kernel", "softmax", "--chip", "h9000"), 1, "h9000"),
        (("recommend", "--kernel", "softmax", "--chip", "sm_999"), 1, "sm_999"),
        (("merge", "nowhere"), 2, "no such file or folder"),
        (("mask", "abcdef01", "--reason", "r"), 1, "no record has the id"),
        (("mask", "abc", "--reason", "r"), 2, "too short"),
        (("mask", "--reason", "r"), 2, "nothing to mask"),
        (("unmask", "abcdef01"), 1, "no record has the id"),
        (("add", "nowhere.json"), 2, "cannot be read"),
        (("export", "x.jsonl"), 1, "no record is like that"),
        (("sync", "nonsense://x"), 2, "is no object store"),
    ],
)
def test_what_cannot_be_done_is_told(kbs_here, arguments, code, told):
    ran = kbs_here("experience", *arguments)
    assert ran.code == code
    assert told in ran.err.replace("\n", " ")
    assert "bug" not in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    ("chip", "note"), [("h100_sxm", ""), ("sm_90", ""), ("h100", "only their architecture sm_90a")]
)
def test_a_chip_that_is_taken_for_its_architecture_is_told(kbs_here, mine, chip, note):
    found = kbs_here("--json", "experience", "recommend", "--kernel", "softmax", "--chip", chip,
                     at=mine).json  # fmt: skip
    assert found["arch"] == "sm_90a"
    assert note in found["note"]
    assert ("several GPUs" in found["note"]) == bool(note)


good = write_line(entry_of(outcome(), "team"))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=200), st.integers(0, len(good)), st.booleans())
def test_any_file_merges_or_says_why_not(tmp_path_factory, junk, cut, array):
    base = tmp_path_factory.mktemp("fuzz")
    path = base / "log.jsonl"
    middle = good[:cut] + junk + good[cut:]
    path.write_bytes(b"[" + junk + json.dumps(ENTRY).encode() if array else good + middle + good)
    report = merge(base / "home", [path], lore=Lore(), origin="me")
    for bad in (*report.rejected, *report.quarantined):
        assert bad.reason
        assert bad.line >= 1
    if not array:
        assert report.added + report.duplicates >= 1
