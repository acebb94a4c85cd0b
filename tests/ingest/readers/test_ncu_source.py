"""Source counters: from a stand-in action, and from a report recorded on an H100."""

from __future__ import annotations

import pytest

from kbs_engine.errors import ReportError
from kbs_engine.sourceview import guilty, source_lines
from kbs_ingest.readers import ncu_source_worker
from kbs_ingest.readers.ncu_source import read_source

GLOBAL = "memory_l2_theoretical_sectors_global"
SAMPLED = "smsp__pcsamp_warps_issue_stalled_"


class Ids:
    def __init__(self, addresses):
        self.addresses = addresses

    def as_uint64(self, index):
        return self.addresses[index]


class Metric:
    """An instanced metric, as the Python report interface documents it."""

    def __init__(self, values, *, correlated=True):
        self.values, self.correlated = values, correlated

    def num_instances(self):
        return len(self.values)

    def has_correlation_ids(self):
        return self.correlated

    def correlation_ids(self):
        return Ids([address for address, _ in self.values]) if self.correlated else None

    def as_double(self, index):
        return self.values[index][1]


class Info:
    def __init__(self, line):
        self._line = line

    def file_name(self):
        return "k.cu"

    def line(self):
        return self._line


class Action:
    def __init__(self, metrics, lines=None, files=None):
        self.metrics, self.lines, self.files = metrics, lines or {}, files or {}

    def metric_names(self):
        return tuple(self.metrics)

    def metric_by_name(self, name):
        return self.metrics.get(name)

    def source_info(self, address):
        return Info(self.lines[address]) if address in self.lines else None

    def sass_by_pc(self, address):
        return f" NOP {address} "

    def source_files(self):
        return self.files


def test_counts_are_joined_by_program_counter():
    action = Action(
        {
            GLOBAL: Metric([(16, 32.0), (48, 4.0)]),
            "derived__memory_l2_theoretical_sectors_global_excessive": Metric([(16, 28.0)]),
            f"{SAMPLED}long_scoreboard": Metric([(32, 7.0), (32, 1.0)]),
            f"{SAMPLED}long_scoreboard_not_issued": Metric([(32, 5.0)]),
            f"{SAMPLED}selected": Metric([(32, 2.0)]),
        },
        lines={16: 2, 32: 3},
        files={"k.cu": "a\n  b;\nc\n"},
    )
    found = ncu_source_worker.launch_source(action)
    rows = {row["address"]: row for row in found["instructions"]}
    assert rows[16]["values"] == {"global_sectors": 32.0, "global_excess_sectors": 28.0}
    assert rows[32]["values"] == {
        "stall:long_scoreboard": 8.0, "stall:selected": 2.0, "samples": 10.0,
    }  # fmt: skip
    assert rows[16]["sass"] == "NOP 16"
    assert (rows[16]["file"], rows[16]["line"]) == ("k.cu", 2)
    assert (rows[48]["file"], rows[48]["line"]) == (None, None)
    assert found["totals"]["samples"] == 10.0
    assert found["texts"] == {"k.cu": {2: "b;", 3: "c"}}


def test_excess_is_worked_out_where_the_report_does_not_state_it():
    action = Action({GLOBAL: Metric([(16, 32.0)]), f"{GLOBAL}_ideal": Metric([(16, 4.0)])})
    found = ncu_source_worker.launch_source(action)
    assert found["instructions"][0]["values"]["global_excess_sectors"] == 28.0


@pytest.mark.parametrize(
    "metrics",
    [
        {},
        {GLOBAL: Metric([])},
        {GLOBAL: Metric([(16, 1.0)], correlated=False)},
        {GLOBAL: Metric([(16, float("nan"))])},
    ],
    ids=["absent", "no instances", "no correlation", "nan"],
)
def test_what_cannot_be_told_by_instruction_is_absent(metrics):
    found = ncu_source_worker.launch_source(Action(metrics))
    assert found["instructions"] == []
    assert found["totals"] == {}


def test_the_worst_instructions_are_kept(monkeypatch):
    monkeypatch.setattr(ncu_source_worker, "MOST", 2)
    samples = Metric([(16, 1.0), (32, 9.0), (48, 5.0)])
    found = ncu_source_worker.launch_source(Action({f"{SAMPLED}wait": samples}))
    assert [row["address"] for row in found["instructions"]] == [32, 48]
    assert found["totals"]["samples"] == 15.0


FAULTS = [
    (0, "uncoalesced_global_store", "out[x * N + y] = value;"),
    (1, "uncoalesced_global_load", "float value = in[(i * 8) % (N * N)];"),
    (2, "shared_bank_conflicts", "sum += tile[x][(y + k) & 31];"),
]


@pytest.fixture(scope="module")
def recorded(request):
    folder = request.config.rootpath / "tests/data/reports"
    return read_source(folder / "h100_source_counters.ncu-rep")


@pytest.mark.parametrize(("launch", "cause", "text"), FAULTS)
def test_a_recorded_report_names_the_line_of_the_planted_fault(recorded, launch, cause, text):
    rows = guilty(recorded[launch], [cause])
    assert rows[0].line.text.startswith(text)
    assert "// fault:" in rows[0].line.text
    assert rows[0].share > 0.9
    assert rows[0].line.file.endswith("h100_source_counters.cu")


def test_recorded_samples_add_up(recorded):
    for view in recorded:
        assert view.collected
        stalls = sum(v for name, v in view.totals.items() if name.startswith("stall:"))
        assert view.totals["samples"] == pytest.approx(stalls)
        shares = sum(line.shares.get("samples", 0.0) for line in source_lines(view))
        assert shares == pytest.approx(1.0)


def test_the_shipped_report_has_no_source_counters(shipped):
    views = read_source(shipped("ncu-rep"))
    assert len(views) == 5
    assert not any(view.collected for view in views)


def test_text_reports_hold_none(shipped):
    assert read_source(shipped("raw.csv")) == ()


def test_a_cut_report_is_an_error(shipped, tmp_path):
    path = tmp_path / "cut.ncu-rep"
    path.write_bytes(shipped("ncu-rep").read_bytes()[:100])
    with pytest.raises(ReportError) as caught:
        read_source(path)
    assert caught.value.remedy
