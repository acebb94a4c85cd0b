"""Arbitrary text never crashes an audit."""

from __future__ import annotations

import time

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kbs_ingest.audit import audit_paths
from kbs_ingest.audit.model import VERDICTS
from kbs_ingest.audit.scan import scan_text
from kbs_ingest.audit.suspects import suspects
from kbs_ingest.audit.values import parse_quantity

MOST_S = 30.0
"""Processor time of all long lines; they take about five."""
SUFFIXES = st.sampled_from([".md", ".json", ".jsonl", ".txt", ".py", ".cu", ".yaml", ".csv", ""])
WORDS = st.sampled_from(
    [
        "H100 SXM", "HBM3 bandwidth", "peak", ": ", "3.35 TB/s", "3,350", "1e999 TB/s", " <- ", "←",
        "gpu-wiki/", "<gpu-wiki>/", "[gpu-wiki] ", "hardware/nvidia/h100_sxm.md", ":L34", ":L0",
        ":L99999999999999999999", "#L3-L1", ":Specs", ":§", "../", "/etc/passwd", "|",
        "|---|---|", "\n", "\r\n", '"', "\\", "\\u003c", "\\ud800", "`", "~",
        "UNKNOWN (gpu-wiki not found)", "µ",
        "²", "٣", "PEAK_BW = ", "3.35e12 B/s", "3 × 10^99 PB/s", "10¹²", "RTX 4090 Laptop", "Max-Q",
        "per die", "2:4", "sparse", "fp16 accumulate", "1 KB/s", '"peak_bw": 3350', "'s",
        "/*", "*/", "//", "#", "SMs", "132", "approximately", "\x00", "\udc80",
    ]
)  # fmt: skip


def looked_at(text, suffix, judge):
    scan = scan_text(text, suffix)
    for found in scan.citations:
        verdict = judge.judge(found)
        assert verdict.verdict in VERDICTS
        assert 1 <= found.line <= text.count("\n") + 1
        if found.span:
            assert 0 <= found.span[0] < found.span[1] <= len(text)
    suspects(scan, suffix, "x")


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(WORDS, max_size=40).map("".join), SUFFIXES)
@example('"\\u003c- gpu-wiki/a.md:L\\u0033\\u0034"', ".json")
@example("| a | 1 TB/s | <- gpu-wiki/hardware/nvidia/h100_sxm.md:L34 |", ".md")
def test_pieces_of_citations_in_any_order(judge, text, suffix):
    looked_at(text, suffix, judge)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(max_size=400), SUFFIXES)
def test_any_text(judge, text, suffix):
    looked_at(f"{text} <- gpu-wiki/{text}:L{text}", suffix, judge)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=600))
def test_any_bytes(knowledge, tmp_path, data):
    path = tmp_path / "any.md"
    path.write_bytes(data)
    report = audit_paths([path], knowledge)
    assert report.files + len(report.notes) == 1


@given(st.text(max_size=60))
def test_any_value(text):
    found = parse_quantity(text)
    assert found is None or found.text


def test_long_lines_do_not_take_long(judge):
    start = time.process_time()
    for line in (
        "3.35 TB/s " * 20000,
        "a: " * 60000,
        "|" * 100000,
        "9" * 100000,
        "(" * 100000,
        "peak_" * 20000,
        "max bw " * 20000,
        "RTX 4090 D " * 20000,
        "we at " * 600,
        "HBM_" * 1000,
        "H100_A_" * 500,
        "each SM shared memory " * 180,
        "used by the kernel " * 200,
        "peak DRAM " * 400,
        '"a": 1' * 20000,
    ):
        looked_at(f"{line} <- gpu-wiki/hardware/nvidia/h100_sxm.md:L34\n", ".md", judge)
    took = time.process_time() - start
    assert took < MOST_S, "a pattern looks at the same words again and again"
