"""Profilers on stand-ins for the vendors' programs: what is run, and how failures are told."""

from __future__ import annotations

import json
import sys

import pytest

from kbs_backends.profilers import (
    CounterFree,
    NcuProfiler,
    RocprofProfiler,
    Target,
    choose_profiler,
)
from kbs_backends.profilers.rocprof import join_tables
from kbs_engine.errors import MeasurementError

FAKE = """#!{python}
import json, sys, pathlib
argv = sys.argv[1:]
pathlib.Path({log!r}).write_text(json.dumps(argv))
{body}
"""


@pytest.fixture
def fake(tmp_path):
    """A program whose behaviour is a few lines of Python over its ``argv``."""

    def make(body):
        path = tmp_path / "tool"
        path.write_text(FAKE.format(python=sys.executable, log=str(tmp_path / "argv"), body=body))
        path.chmod(0o755)
        return str(path)

    make.argv = lambda: json.loads((tmp_path / "argv").read_text())
    return make


TARGET = Target(argv=("python", "one_call.py"))
WRITES = "pathlib.Path(argv[argv.index('-o') + 1] + '.ncu-rep').write_bytes(b'report')"


def test_the_first_pass_is_cheap_and_ranged(fake, tmp_path):
    report = NcuProfiler(program=fake(WRITES)).profile(TARGET, output=tmp_path / "out")
    argv = fake.argv()
    assert argv[-2:] == ["python", "one_call.py"]
    assert argv[argv.index("--clock-control") + 1] == "none"
    assert argv[argv.index("--profile-from-start") + 1] == "off"
    assert "SpeedOfLight" in argv
    assert report.path.read_bytes() == b"report"
    assert report.stored("ab").report_sha256 == "ab"
    assert report.answer.mode == "ncu"


def test_the_second_pass_collects_only_what_is_asked(fake, tmp_path):
    NcuProfiler(program=fake(WRITES)).profile(
        TARGET, metrics=("sm__cycles_active.avg",), output=tmp_path / "out"
    )
    assert "--section" not in fake.argv()
    assert "sm__cycles_active.avg" in fake.argv()


@pytest.mark.parametrize(
    ("log", "message", "remedy"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - no permission", "denies access", "NVreg_Restrict"),
        ("==WARNING== No kernels were profiled.", "no kernel", "kbs check"),
        ("==ERROR== Failed to find metric sm__nope.sum", "sm__nope.sum", "query-metrics"),
        ("==ERROR== something else", "made no report", "read the log"),
    ],
)
def test_failures_say_what_to_do(fake, tmp_path, log, message, remedy):
    body = f"print({log!r}); sys.exit(1)"
    with pytest.raises(MeasurementError) as caught:
        NcuProfiler(program=fake(body)).profile(TARGET, output=tmp_path / "out")
    assert message in caught.value.message
    assert remedy in caught.value.remedy


def test_a_report_of_no_kernels_is_no_report(fake, tmp_path):
    body = WRITES + "\nprint('==WARNING== No kernels were profiled.')"
    with pytest.raises(MeasurementError, match="no kernel"):
        NcuProfiler(program=fake(body)).profile(TARGET, output=tmp_path / "out")


def test_ncu_that_is_not_there(tmp_path):
    with pytest.raises(MeasurementError, match="not on PATH"):
        NcuProfiler(program="no-such-ncu").profile(TARGET, output=tmp_path / "out")


def test_a_program_that_failed_under_the_profiler_is_noted(fake, tmp_path):
    report = NcuProfiler(program=fake(WRITES + "\nsys.exit(3)")).profile(
        TARGET, output=tmp_path / "out"
    )
    assert "ended with 3" in report.answer.notes[0]


CSV = '"Kernel_Name","Counter_Name","Counter_Value"\n"k","{0}",1\n'
ROC = (
    "folder = pathlib.Path(argv[argv.index('-d') + 1])\n"
    "names = argv[argv.index('--pmc') + 1: argv.index('--')]\n"
    "head = 'Kernel_Name,Counter_Name,Counter_Value\\n'\n"
    "text = head + ''.join(f'k,{n},1\\n' for n in names)\n"
    "(folder / 'profile_counter_collection.csv').write_text(text)"
)


def test_rocprof_runs_a_pass_for_each_group_and_joins_them(fake, tmp_path):
    report = RocprofProfiler(program=fake(ROC)).profile(TARGET, output=tmp_path / "out")
    lines = report.path.read_text().splitlines()
    assert lines[0] == "Kernel_Name,Counter_Name,Counter_Value"
    assert {"k,FETCH_SIZE,1", "k,WRITE_SIZE,1"} <= set(lines[1:])
    assert report.answer.passes == 4
    assert "not run on AMD hardware" in report.answer.notes[0]


def test_rocprof_asks_for_named_counters_in_one_pass(fake, tmp_path):
    report = RocprofProfiler(program=fake(ROC)).profile(
        TARGET, metrics=("SQ_WAVES",), output=tmp_path / "out"
    )
    assert report.answer.passes == 1
    assert fake.argv()[-3:] == ["--", "python", "one_call.py"]


def test_rocprof_without_a_counter_file(fake, tmp_path):
    with pytest.raises(MeasurementError, match="no counter file"):
        RocprofProfiler(program=fake("")).profile(TARGET, output=tmp_path / "out")


def test_tables_of_different_layout_are_not_joined():
    with pytest.raises(MeasurementError, match="different layout"):
        join_tables(["a,b\n1,2\n", "a,c\n1,2\n"])


def test_without_counters_nothing_is_claimed(tmp_path):
    profiler = choose_profiler(vendor="nvidia", counters=False, why_not="ERR_NVGPUCTRPERM")
    report = profiler.profile(TARGET, output=tmp_path)
    assert isinstance(profiler, CounterFree)
    assert report.path is None
    assert report.answer.mode == "counter-free"
    assert report.answer.notes[1] == "ERR_NVGPUCTRPERM"


def test_the_profiler_follows_the_vendor():
    assert choose_profiler(vendor="amd", counters=True).name == "rocprof"
    assert choose_profiler(vendor="nvidia", counters=True).name == "ncu"
