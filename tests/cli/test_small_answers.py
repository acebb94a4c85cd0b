"""Answers to what is nearly right: hints, variants, impossible values, and what is not there."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.decoding import decode_json
from kbs_engine.limiter import UNITS, find_limiter
from kbs_engine.metrics import SHARE_LIMIT_PCT, usable
from tests.ingest.wiki_fixture import write_wiki


@pytest.mark.parametrize(
    ("metric", "hint"),
    [
        ("bf16", "did you mean peak_bf16_tensor?"),
        ("bandwidth", "did you mean memory_bandwidth"),
        ("memory_bandwith", "did you mean memory_bandwidth"),
        ("colour", "no spec of that name; `kbs specs h100_sxm` lists all"),
    ],
)
def test_a_metric_that_is_not_there_gets_a_hint(kbs_here, metric, hint):
    ran = kbs_here("specs", "h100_sxm", metric)
    assert (ran.code, ran.out) == (
        0,
        f"NVIDIA H100 SXM5 80GB {metric}: UNKNOWN (gpu-wiki not found)\n",
    )
    assert ran.err.startswith(hint)


@pytest.mark.parametrize(
    ("gpu", "options", "sizes"),
    [
        ("Tesla V100-SXM2-32GB", [], [32]),
        ("Tesla V100-SXM2-16GB", [], [16]),
        ("Tesla V100-PCIE-32GB", [], [32]),
        ("Tesla V100-SXM2-32GB", ["--all"], [16, 32]),
        ("v100_sxm2", [], [16, 32]),
        ("NVIDIA H100 80GB HBM3", [], [80]),
    ],
)
def test_a_name_with_a_memory_size_gets_that_size(kbs_here, gpu, options, sizes):
    rows = kbs_here("specs", gpu, "memory_capacity", *options, "--json").json["specs"]
    assert [row["value"] for row in rows] == sizes


STATED = ["--chip", "h100_sxm", "--kernel", "gemm", "--dtype", "bf16", "--flops", "1.374e11"]


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_time_in_which_nothing_does_the_work_is_refused(kbs_here, form):
    ran = kbs_here("roofline", *STATED, "--time-ns", 10, *form)
    assert (ran.code, ran.out) == (1, "")
    assert "nothing does the stated work in 10 ns (its arithmetic needs 138.9 µs" in ran.err
    assert "--time-ns" in ran.err
    assert "sidecar" not in ran.err
    assert "counters" not in ran.err
    assert kbs_here("roofline", *STATED, "--time-ns", 200_000, *form).code == 0


def test_a_wiki_folder_that_is_not_there_is_told_without_an_option(kbs_here):
    ran = kbs_here("wiki", "check", "/nosuch")
    assert ran.code == 2
    assert "name an existing folder" in ran.err


def test_who_asked_for_no_model_is_told_once_and_not_to_install_one(kbs_here, tmp_path):
    wiki = write_wiki(tmp_path / "wiki")
    ran = kbs_here("--wiki", wiki, "ingest", "--embedding-model", "none", at=tmp_path / "home")
    assert ran.code == 0
    assert (ran.out + ran.err).count("no embedding model, as asked") == 1
    assert (ran.out + ran.err).count("embedding model") == 1
    assert "pip" not in ran.out + ran.err


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_json_does_not_have_is_named(word):
    with pytest.raises(msgspec.DecodeError, match=f"^{word} is no number of JSON"):
        decode_json(f'{{"note": "NaN", "gain": {word}}}'.encode())


@pytest.mark.parametrize("text", ['{"gain": nan}', '{"a": "NaN"', "", "\\xff"])
def test_other_faults_of_json_keep_their_words(text):
    with pytest.raises(msgspec.DecodeError) as told:
        decode_json(text)
    assert "no number of JSON" not in str(told.value)


shares = st.dictionaries(
    st.sampled_from([name for name, _ in UNITS]), st.floats(0, SHARE_LIMIT_PCT), min_size=1
)


@given(shares, st.sampled_from([*dict(UNITS), "compute_pct", "memory_pct"]), st.booleans())
def test_no_limiter_is_named_where_a_share_cannot_be(metrics, name, negative):
    wrong = -1.0 if negative else math.nextafter(SHARE_LIMIT_PCT, math.inf)
    assert find_limiter({**metrics, name: wrong}).limiter == "unknown"
    assert name not in usable({**metrics, name: wrong})
    assert usable(metrics) == metrics


def test_an_impossible_share_names_no_limiter_and_fires_no_symptom(kbs_here, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(
        '"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"\n'
        '"0","k","GPU Speed Of Light Throughput","DRAM Throughput","%","5000.0"\n'
        '"0","k","GPU Speed Of Light Throughput","Duration","us","41.5"\n'
    )
    (kernel,) = kbs_here("diagnose", path, "--chip", "h100_sxm", "--json").json["kernels"]
    assert kernel["limiter"] == "unknown"
    assert kernel["causes"] == []
    assert kernel["metrics"]["dram_pct"] == 5000
    assert "dram_pct is 5000 %, above 100 %; no answer rests on it" in kernel["flags"]
