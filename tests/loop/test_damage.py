"""After tampering the loop does not go on, and says what it found; a crash is no tampering."""

from __future__ import annotations

import json
import shutil

import pytest
from click.testing import CliRunner

from kbs.cli import cli
from kbs.looping.waiting import fresh_orders
from kbs.looping.world import WaitingForAgentError
from kbs_engine.errors import KbsError
from kbs_engine.gate import check_version, damage
from kbs_engine.run import RunFolder
from tests.loop.replaying import kbs
from tests.loop.test_orders import KERNEL, REPORT, Host, go, started
from tests.loop.test_unreadable_candidates import submit


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that made v1 and waits for v2's kernel."""
    folder = tmp_path_factory.mktemp("damage")
    with started(folder, iterations=2, slots=1, proposer="agent") as run:
        for text in (KERNEL.replace("FIRST = False", "FIRST = True"), ""):
            with pytest.raises(WaitingForAgentError):
                go(run)
            if text:
                submit(run, text)
        assert run.current() == 2
    return run.root


@pytest.fixture
def run(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "copied")


def asked(run, *words):
    """Exit code and everything told, by a home that never saw the run."""
    ran = CliRunner().invoke(cli, ["--home", str(run.parent / "home"), "loop", *words])
    if isinstance(ran.exception, KbsError):
        return ran.exception.exit_code, f"{ran.exception.message} {ran.exception.where}"
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran.exit_code, ran.output


def chain(run):
    path = run / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    del lines[len(lines) // 2]
    path.write_bytes(b"".join(lines))


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


TAMPERED = {
    "v1/kernel.py: was written": lambda run: (run / "v1/kernel.py").unlink(),
    "v1/kernel.py: was changed": lambda run: write(run / "v1/kernel.py", "x = 1\n"),
    "v0/kernel.py: was changed": lambda run: write(run / "v0/kernel.py", "x = 1\n"),
    "v1/bench.json: was changed": lambda run: write(run / "v1/bench.json", "{}"),
    "v0/request.json: was written": lambda run: (run / "v0/request.json").unlink(),
    "v1/branches/b0/kernel.py: was written": lambda run: shutil.rmtree(run / "v1/branches"),
    "ref.py: was changed": lambda run: write(run / "ref.py", "x = 1\n"),
    "current_iteration.txt: is gone": lambda run: (run / "current_iteration.txt").unlink(),
    "current_iteration.txt: names v7": lambda run: write(run / "current_iteration.txt", "v7\n"),
    "current_iteration.txt: names v0": lambda run: write(run / "current_iteration.txt", "v0\n"),
    "current_iteration.txt: does not name": lambda run: write(run / "current_iteration.txt", "?"),
    "chain is broken": chain,
}


@pytest.mark.parametrize("told", TAMPERED)
def test_status_says_it_and_nothing_goes_on(run, told):
    TAMPERED[told](run)
    code, text = asked(run, "status", str(run))
    assert code == 1
    assert told in text
    assert "write it from" not in text
    code, text = asked(run, "status", str(run), "--json")
    assert code == 1
    assert json.loads(text)["damage"]
    for verb in ("resume", "next", "close", "finalize"):
        code, text = asked(run, verb, str(run), "--device", "host")
        assert code in (1, 2), verb
        shown = "events removed" if told == "chain is broken" else told
        assert shown in text or "were removed" in text, (verb, text)


def test_an_honest_run_is_whole_and_says_what_it_waits_for(run):
    code, text = asked(run, "status", str(run))
    assert code == 0
    assert "write it from v1/kernel.py" in text
    (run / "v1/analysis.md").write_text("a note by hand\n")  # notes may be edited
    assert asked(run, "status", str(run))[0] == 0
    with RunFolder.open(run) as opened:
        assert damage(opened) == ()


def test_a_version_in_work_may_be_cut_short(run):
    """What a crash leaves of the version after the last gate is made again, not refused."""
    shutil.rmtree(run / "v2")
    (run / "v1/request.json").write_text("{}")  # written again at every wait
    with RunFolder.open(run) as opened:
        assert damage(opened) == ()
    code, text = asked(run, "resume", str(run), "--device", "host")
    assert code == 0, text
    assert "v2 waits for a kernel" in text


@pytest.mark.parametrize(
    "order", [("set", "--set", "gpu_seconds=500"), ("extend", "-n", "1"), ()], ids=str
)
def test_finalize_means_now_and_tells_each_stage_once(tmp_path, monkeypatch, order):
    """Also where an ended run was given other orders; what it told before is not told again."""
    with started(tmp_path, iterations=1, slots=1) as run:
        assert go(run)["ended"] == "iterations_done"
        root = run.root
    if order:
        verb, *rest = order
        assert asked(root, verb, str(root), *rest)[0] == 0
    monkeypatch.setattr("kbs_backends.device.open_device", lambda _, blobs: Host(blobs, REPORT))
    code, text = asked(root, "finalize", str(root), "--device", "host")
    assert code == 0, text
    assert text.count("reports written") == (1 if order else 0)
    with RunFolder.open(root) as run:
        assert fresh_orders(run) == ()
        assert [row.version for row in run.state().versions] == [0, 1]
        assert run.state().ended
        assert check_version(run, 1, final=True) == ()


@pytest.mark.parametrize("spoilt", [None, "", "{"], ids=["gone", "empty", "torn"])
def test_resume_writes_the_state_again(run, spoilt):
    state = run / "state.json"
    before = state.read_bytes()
    if spoilt is None:
        state.unlink()
        for verb in ("status", "summarize"):
            with pytest.raises(KbsError, match=r"state\.json of this run is gone") as told:
                kbs(run.parent / "home", "loop", verb, str(run))
            assert told.value.remedy.startswith(f"`kbs loop resume {run}` writes it again")
    else:
        state.write_text(spoilt)
    code, text = asked(run, "resume", str(run), "--device", "host")
    assert code == 0, text
    assert "v2 waits for a kernel" in text
    assert state.read_bytes() == before


def test_a_folder_whose_state_is_gone_is_no_new_run(run):
    run.rename(run.parent / "run")
    (run.parent / "run" / "state.json").unlink()
    with pytest.raises(KbsError, match="files in it") as told:
        started(run.parent)
    assert "`kbs loop resume`" in told.value.remedy


@pytest.mark.parametrize("names", ["v7", "v0", "?"])
def test_what_the_gate_says_of_the_current_version_mends_it(run, names):
    current = run / "current_iteration.txt"
    current.write_text(f"{names}\n")
    with RunFolder.open(run) as opened:
        refusals = [row for row in check_version(opened, 2) if row.rule == "current_version"]
    (remedy,) = {row.remedy for row in refusals}
    assert remedy.startswith("write v2 into it")
    current.write_text("v2\n")
    with RunFolder.open(run) as opened:
        assert "current_version" not in {row.rule for row in check_version(opened, 2)}
