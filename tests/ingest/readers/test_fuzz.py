"""Whatever the bytes are, the outcome is a report or a ReportError."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbs_engine.errors import ReportError, WikiError, WorkError
from kbs_engine.profiles import Report
from kbs_ingest import safe_yaml
from kbs_ingest.metric_map import load_metric_map
from kbs_ingest.readers import read_report
from kbs_ingest.work_file import WorkFile, read_work
from tests.ingest.readers import layouts as L  # noqa: N812

ROOT = Path(__file__).resolve().parents[3]
REPORTS = ROOT / "tests/data/reports"
COMMON = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
TEXTS = [L.DETAILS_2020, L.DETAILS_2023, L.TEXT_2020, L.TEXT_METRICS, L.SUMMARY, L.COUNTERS_V3,
         L.TRACE_V3, L.PMC_PERF,
         L.raw([("dram__bytes_read.sum", "Mbyte"), ("sass__inst_executed_per_opcode", "inst")],
               ["67.12", "12 (FADD: 12)"])]  # fmt: skip
INSERTS = st.sampled_from(
    ['"', ",", "\n", "\r", "\0", ";", "1,234", "nan", "-1", "1e999", "(", ")", ": ", "%", "ID",
     "Kernel Name", '""', "\t", "\ufeff", "٣", "²", "--- --- ---", "9" * 400]
)  # fmt: skip


@lru_cache
def metric_map(vendor):
    return load_metric_map(ROOT / f"gpu-wiki/metrics/{vendor}.yaml")


def outcome(path, content, vendor):
    path.write_bytes(content)
    try:
        report = read_report(path, metric_map(vendor))
    except ReportError as error:
        fault = error
    else:
        fault = None
        assert isinstance(report, Report)
        assert report.profiles
    assert fault is None or (fault.message and fault.where and fault.remedy)


@st.composite
def mutated(draw, text):
    """A text with some pieces cut out, doubled or replaced."""
    for _ in range(draw(st.integers(1, 4))):
        first = draw(st.integers(0, len(text)))
        last = draw(st.integers(first, min(len(text), first + draw(st.sampled_from([1, 9, 300])))))
        piece = draw(st.one_of(st.just(""), INSERTS, st.just(2 * text[first:last])))
        text = text[:first] + piece + text[last:]
    return text


@COMMON
@given(content=st.binary(max_size=600), vendor=st.sampled_from(["nvidia", "amd"]))
def test_arbitrary_bytes(tmp_path, content, vendor):
    if not content.startswith((b"NVR\0", b"\x28\xb5\x2f\xfd")):
        outcome(tmp_path / "f", content, vendor)


@COMMON
@given(data=st.data(), vendor=st.sampled_from(["nvidia", "amd"]))
def test_mutated_layouts(tmp_path, data, vendor):
    text = data.draw(mutated(data.draw(st.sampled_from(TEXTS))))
    outcome(tmp_path / "f", text.encode(), vendor)


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**400), 10**400).map(str),
    st.sampled_from(["1e308", "-1e308", "1.7e308", "1e-320", "5e-324", "1e999", "0", "9" * 400]),
)
COLUMNS = [
    ("gpu__time_duration.sum", "ms"), ("gpu__time_duration.sum", "second"),
    ("dram__bytes_read.sum", "Pbyte"), ("dram__bytes_write.sum", "Tbyte"),
    ("dram__sectors_read.sum", "sector"), ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"),
    ("launch__grid_size", ""), ("launch__block_size", ""), ("sm__cycles_active.avg", "cycle"),
    ("sm__cycles_elapsed.avg", "cycle"), ("gpc__cycles_elapsed.avg.per_second", "Ghz"),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector"),
    ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request"),
    ("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", "byte/sector"),
]  # fmt: skip


@COMMON
@given(data=st.data())
def test_huge_and_small_numbers(tmp_path, data):
    names = data.draw(st.lists(st.sampled_from(COLUMNS), min_size=1, unique_by=lambda one: one[0]))
    cells = [data.draw(NUMBERS) for _ in names]
    outcome(tmp_path / "f", L.raw(names, cells).encode(), "nvidia")
    for text in (L.COUNTERS_V3, L.TRACE_V3, L.PMC_PERF):
        digits = list(re.finditer(r"(?<=,)\d+(?:\.\d+)?(?=,|$)", text, re.MULTILINE))
        spot = data.draw(st.sampled_from(digits))
        changed = text[: spot.start()] + data.draw(NUMBERS) + text[spot.end() :]
        outcome(tmp_path / "f", changed.encode(), "amd")


@pytest.mark.parametrize("value", ["1e308", "1e999", "9" * 400])
def test_what_overflows_is_left_out_and_flagged(tmp_path, value):
    path = tmp_path / "f"
    path.write_text(L.raw([("gpu__time_duration.sum", "ms")], [value]))
    (profile,) = read_report(path, metric_map("nvidia")).profiles
    assert "duration_ns" not in profile.metrics
    assert any("gpu__time_duration.sum" in flag and "left out" in flag for flag in profile.flags)


@pytest.mark.parametrize("form", ["details.csv", "details.txt", "raw.csv"])
@settings(COMMON, max_examples=25)
@given(data=st.data())
def test_mutated_real_exports(tmp_path, form, data):
    text = (REPORTS / f"h100_triton_torch.{form}").read_text(encoding="utf-8")
    start = data.draw(st.integers(0, 2)) * len(text) // 4
    part = text[:2000] + text[start : start + 20000]
    outcome(tmp_path / "f", data.draw(mutated(part)).encode(), "nvidia")


@COMMON
@given(text=st.text(max_size=200) | mutated(
    (REPORTS / "h100_triton_torch.work.yaml").read_text(encoding="utf-8")))  # fmt: skip
def test_work_sidecars(tmp_path, text):
    path = tmp_path / "a.work.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with suppress(WorkError):
        assert isinstance(read_work(path), WorkFile)


@COMMON
@given(text=st.text(alphabet="ab:-[]{}&*!|>#,'\"\n\t 01?%@`~\0é", max_size=80))
def test_safe_yaml(text):
    with suppress(WikiError):
        safe_yaml.load(text, "f", error=WikiError)
