"""JSON nested without end and folders that cannot be written are told, never a fault of kbs."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from kbs.cli import cli
from kbs_engine.decoding import decode_json
from kbs_engine.errors import KbsError, StoreError
from kbs_engine.run import RunFolder
from tests.loop.cases import KERNELS

DEEP = "[" * 100_000
HOST = KERNELS / "softmax_host"
TASK = f"{HOST / 'kernel.py'} --ref {KERNELS / 'ref.py'} --language triton --device host"
READERS = {
    "dims": ["check", *TASK.split(), "--dims", '{"M": ' + DEEP],
    "ceilings": ["ceiling", "--from", "{deep}"],
    "add": ["experience", "add", "{deep}"],
    "recording": ["bench", *TASK.split(), "--M=64", "--N=256", "--device", "recorded:{folder}"],
    "memory": ["memory", "summary", "{run}"],
    "state": ["loop", "status", "{run}"],
}
WRITERS = {
    "run": f"optimize {TASK} --M=64 --N=256 --output {{no}}/run",
    "bench": f"bench {TASK} --M=64 --N=256 --output-dir {{no}}/out",
    "record": f"check {TASK} --M=64 --N=256 --record {{no}}/out",
}


@pytest.fixture
def deep(tmp_path):
    path = tmp_path / "recorded" / "jobs.jsonl"
    path.parent.mkdir()
    path.write_text(DEEP + "\n" + DEEP + "\n")
    return path


def refused(home: Path, words: list[str]) -> KbsError:
    ran = CliRunner().invoke(cli, ["--home", str(home), *words])
    assert isinstance(ran.exception, KbsError), (ran.exception, ran.output)
    assert ran.exception.exit_code == 2
    return ran.exception


@pytest.mark.parametrize("case", READERS)
def test_json_nested_without_end_is_bad_json(tmp_path, home, made_run, deep, case):
    for name in ("state.json", "memory/v0.json"):
        (made_run / name).write_text(DEEP)
    words = [
        word.replace("{deep}", str(deep))
        .replace("{folder}", str(deep.parent))
        .replace("{run}", str(made_run))
        for word in READERS[case]
    ]
    problem = refused(home, words)
    assert "bug in kbs" not in str(problem)
    assert problem.remedy


@pytest.fixture
def made_run(made_once, tmp_path):
    return Path(shutil.copytree(made_once, tmp_path / "run"))


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    from tests.run.folder import Builder

    root = tmp_path_factory.mktemp("made") / "run"
    builder = Builder(root)
    builder.version(0)
    builder.close()
    return root


def test_deep_json_is_a_decode_error():
    for text in (DEEP, '{"a":' * 100_000):
        with pytest.raises(msgspec.DecodeError, match="too deeply"):
            decode_json(text)
    assert decode_json("[1]", list[int]) == [1]


@pytest.mark.parametrize("case", WRITERS)
def test_a_folder_that_cannot_be_made_is_told_at_once(tmp_path, home, case):
    (tmp_path / "file").write_text("a file is no folder")
    problem = refused(home, WRITERS[case].format(no=tmp_path / "file").split())
    assert "cannot be written" in problem.message
    assert "file/" in problem.where


def test_a_run_whose_folders_cannot_be_made_says_so(made_run):
    with RunFolder.open(made_run, writing=True) as run:
        shutil.rmtree(run.version(1).root, ignore_errors=True)
        run.version(1).root.write_text("in the way")
        with pytest.raises(StoreError, match="cannot be written"):
            run.advance(0)
        with pytest.raises(StoreError, match="cannot be written"):
            run.open_version(1)
    shutil.rmtree(made_run / ".kbs")
    (made_run / ".kbs").write_text("in the way")
    with pytest.raises(StoreError):
        RunFolder.open(made_run, writing=True)


WRONG = {
    "timer": ("bench", "--timing-method do_bench", "do_bench times GPU kernels only"),
    "gpu": ("check", "--gpu 3", "two devices"),
    "no place": ("bench", "--output-dir /proc/nope", "cannot be written"),
    "no place of a profile": ("profile", "--output-dir /proc/nope", "cannot be written"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_usage_is_told_before_anything_is_measured(home, monkeypatch, case):
    verb, options, says = WRONG[case]
    monkeypatch.setattr("kbs_backends.device.open_device", lambda *_, **__: pytest.fail("opened"))
    problem = refused(home, [verb, *TASK.split(), "--M=64", "--N=256", *options.split()])
    assert says in problem.message


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("bench", ("--num-trials", "99999999999")),
        ("bench", ("--process-pairs", "99999")),
        ("check", ("--rounds", "99999999999")),
        ("optimize", ("--trials", "9" * 22)),
        ("loop init", ("--process-pairs", "21")),
        ("optimize", ("--rounds", "99999999999")),
    ],
)
def test_numbers_that_nobody_waits_for_are_refused(home, verb, options):
    ran = CliRunner().invoke(cli, ["--home", str(home), *verb.split(), *TASK.split(), *options])
    assert ran.exit_code == 2
    assert "range" in ran.output
