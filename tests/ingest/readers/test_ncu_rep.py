"""Report files: damaged ones, and a native reader that crashes, hangs or is missing."""

from __future__ import annotations

import sys
import time

import pytest

from kbs_engine.errors import ReportError
from kbs_ingest.readers import ncu_rep, ncu_worker, read_report

CUTS = [3, 4, 100, 5000, 65536, 1_000_000, 3_854_873]
MORE = [8, 16, 64, 1000, 20_000, 200_000, 500_000, 2_000_000, 3_000_000, 3_800_000]


def cut(shipped, tmp_path, length):
    path = tmp_path / "cut.ncu-rep"
    path.write_bytes(shipped("ncu-rep").read_bytes()[:length])
    return path


@pytest.mark.parametrize(
    "length", [*CUTS, *(pytest.param(n, marks=pytest.mark.slow) for n in MORE)]
)
def test_truncated_report(shipped, tmp_path, nvidia, length):
    with pytest.raises(ReportError) as caught:
        read_report(cut(shipped, tmp_path, length), nvidia)
    assert caught.value.remedy
    assert "cut.ncu-rep" in caught.value.where


def test_noise_behind_the_magic(tmp_path, nvidia):
    path = tmp_path / "noise.ncu-rep"
    path.write_bytes(b"NVR\0" + bytes(range(256)) * 100)
    with pytest.raises(ReportError, match=r"no kernel|reader"):
        read_report(path, nvidia)


def test_the_suffix_does_not_matter(shipped, tmp_path, nvidia):
    path = tmp_path / "report.txt"
    path.write_bytes(shipped("ncu-rep").read_bytes())
    assert read_report(path, nvidia).format == "ncu-rep"


def test_relative_path(shipped, monkeypatch, nvidia):
    monkeypatch.chdir(shipped("ncu-rep").parent)
    name = shipped("ncu-rep").name
    report = read_report(type(shipped("ncu-rep"))(name), nvidia)
    assert report.path == name
    assert len(report.profiles) == 5


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import os; os.abort()", "signal 6"),
        ("import time; time.sleep(60)", "did not finish"),
        ("print('nothing')", "no usable answer"),
        (f"import sys; sys.exit({ncu_worker.NO_PACKAGE})", "ncu_report package"),
        ("import sys; sys.stderr.write('bad file'); sys.exit(4)", "bad file"),
        ('print(\'{"reader": "", "launches": []}\')', "no kernel"),
    ],
    ids=["crash", "hang", "garbage", "missing package", "refused", "no kernel"],
)
def test_a_failing_native_reader_is_an_error(
    shipped, tmp_path, monkeypatch, nvidia, program, message
):
    package = tmp_path / "kbs_ingest" / "readers"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "ncu_worker.py").write_text(program)
    monkeypatch.setattr(ncu_rep, "_ROOT", tmp_path)
    with pytest.raises(ReportError) as caught:
        ncu_rep.read(shipped("ncu-rep"), nvidia, timeout_s=2)
    assert message in caught.value.message
    assert caught.value.remedy


def test_an_interpreter_that_cannot_start(shipped, monkeypatch, nvidia):
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(ReportError, match="cannot start"):
        ncu_rep.read(shipped("ncu-rep"), nvidia)


def test_a_module_of_the_users_folder_is_not_imported(shipped, tmp_path, monkeypatch, nvidia):
    (tmp_path / "ncu_report.py").write_text("raise SystemExit('imported the wrong one')")
    monkeypatch.chdir(tmp_path)
    assert len(read_report(shipped("ncu-rep"), nvidia).profiles) == 5


def test_five_kernels_are_read_fast(shipped, nvidia):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        read_report(shipped("ncu-rep"), nvidia)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.5  # 0.16 s on an idle machine
