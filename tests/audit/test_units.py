"""One value in the units and spellings in which people write it."""

from __future__ import annotations

import pytest

from kbs_engine.units import to_base
from kbs_ingest.audit.scan import scan_text
from kbs_ingest.audit.values import parse_quantity


@pytest.mark.parametrize(("metric", "label", "values"), [
    ("tdp", "board power", ["0.7 kW", "700 watts", "700000 mW", "0.7 kilowatts"]),
    ("peak_bf16_tensor", "BF16 tensor", [
        "989.4 Tflop/s", "989.4 teraFLOPS", "989.4 TFLOPs", "989.4 tflops", "989,4 TFLOPS",
        "0.9894 petaflops", "989.4 TFlops/s",
    ]),
    ("memory_bandwidth", "HBM3 bandwidth", [
        "26.8 Tb/s", "26.8 Tbit/s", "26800 Gbps", "3.35 GB/ms", "3 350 GB/s", "3\u202f350 GB/s",
        "3\u00a0350 GB/s", "3_350 GB/s", "3'350 GB/s", "3,35 TB/s", "3.35 terabytes per second",
        "3.35 TB per second", "3.35 TBps",
    ]),
    ("clock_boost", "boost clock", ["1.98 GHz", "1980000 kHz", "1.98 gigahertz"]),
])  # fmt: skip
def test_a_right_value_in_another_spelling_is_ok(judge, wiki, metric, label, values):
    place = wiki.chips["h100_sxm"].chip.find(metric).citation
    for value in values:
        (found,) = scan_text(f"{label}: {value} <- {place}\n", ".md").citations
        verdict = judge.judge(found)
        assert (verdict.verdict, verdict.unexplained) == ("ok", ()), (value, verdict)


@pytest.mark.parametrize(("text", "base"), [
    ("1 Gbit/s", 1.25e8), ("2 GiB/s", 2.0 * 2**30), ("8 Kib/s", 1024.0), ("3 mW", 3e-3),
    ("5 MB/ms", 5e9), ("2 exactly", 2.0), ("1,234,567", 1234567.0), ("12 345 W", 12345.0),
])  # fmt: skip
def test_prefixes_bits_and_times_are_counted(text, base):
    found = parse_quantity(text)
    assert to_base(found.number, found.unit) == pytest.approx(base)


def test_an_unknown_unit_and_too_few_digits_are_told_as_such(judge, wiki):
    def detail(label, value, metric, chip="h100_sxm"):
        place = wiki.chips[chip].chip.find(metric).citation
        (found,) = scan_text(f"{label}: {value} <- {place}\n", ".md").citations
        verdict = judge.judge(found)
        assert verdict.verdict == "wrong_value"
        return verdict.detail

    assert "without a known unit" in detail("HBM3 bandwidth", "3.35 furlongs", "memory_bandwidth")
    told = detail("MI300X BF16 matrix", "1.3 PFLOPS", "peak_bf16_tensor", "mi300x")
    assert "too few digits" in told


@pytest.mark.parametrize("label", ["FP32 vector", "FP64 tensor", "peak_fp32", "FP32 peak",
                                   "BF16 tensor", "board power", "SMs", "L2 size"])  # fmt: skip
def test_an_unknown_that_the_page_states_predates_it(judge, label):
    text = f"H100 SXM {label}: UNKNOWN (gpu-wiki not found)\n"
    verdict = judge.judge(scan_text(text, ".md").citations[0])
    assert (verdict.verdict, verdict.predates) == ("changed", True)


@pytest.mark.parametrize("label", ["FP4 tensor", "L9 cache", "texture bandwidth"])
def test_an_unknown_that_no_row_answers_is_true(judge, label):
    text = f"H100 SXM {label}: UNKNOWN (gpu-wiki not found)\n"
    assert judge.judge(scan_text(text, ".md").citations[0]).verdict == "ok"
