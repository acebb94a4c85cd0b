"""What the loop wrote of itself is held to its journal: every leaf, every answer, every source."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess

import pytest
from click.testing import CliRunner

from kbs.cli import cli
from kbs.looping.driver import Driver
from kbs.looping.home import stage_ends
from kbs.looping.progress import Quiet
from kbs.looping.running import Wiring, wired
from kbs.looping.writing import Writer
from kbs_engine.errors import KbsError
from kbs_engine.gate import check_version, damage, standing, told_again
from kbs_engine.gate.told_again import BY_PEOPLE, memory_leaves, state_leaves
from kbs_engine.loop.retelling import retell
from kbs_engine.run import RunFolder
from tests.loop.leaves import edited, leaves, named, other
from tests.loop.test_orders import REPORT, Host, go, started


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that made v1 and ended."""
    with started(tmp_path_factory.mktemp("retold"), iterations=1, slots=1) as run:
        assert go(run)["ended"] == "iterations_done"
    return run.root


@pytest.fixture(scope="module")
def branched(tmp_path_factory):
    """A run in the midst of v1, of which nothing is committed."""
    with started(tmp_path_factory.mktemp("branched"), iterations=1, slots=1) as run:
        device = Host(run.blobs, REPORT)
        world = wired(run, run.state().settings, Wiring(home=None, roots=(), remember=False))
        Driver(run, device, world, Writer(run), Quiet()).go(stage_ends("verify"))
        device.close()
        assert run.version(1).branch(0).bench.is_file()
        assert not run.paths.memory_record(1).exists()
    return run.root


@pytest.fixture
def run(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "copied")


@pytest.fixture
def unfinished(branched, tmp_path):
    return shutil.copytree(branched, tmp_path / "copied")


@pytest.fixture(autouse=True)
def device(monkeypatch):
    monkeypatch.setattr(
        "kbs_backends.device.open_device", lambda _, blobs, **more: Host(blobs, REPORT)
    )


def asked(run, *words):
    """Exit code and everything told, by a home that never saw the run."""
    ran = CliRunner().invoke(cli, ["--home", str(run.parent / "home"), *words])
    if isinstance(ran.exception, KbsError):
        return ran.exception.exit_code, str(ran.exception)
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran.exit_code, ran.output


def test_no_leaf_of_the_state_can_be_edited_unseen(run):
    text = json.loads((run / "state.json").read_text())
    with RunFolder.open(run) as opened:
        retold = retell(opened)
        assert state_leaves(opened, retold) == ()
        seen = 0
        for path, value in leaves(text):
            if path == ("schema_version",):
                continue
            (run / "state.json").write_text(json.dumps(edited(text, path, other(value))))
            told = state_leaves(opened, retold)
            unreadable = len(told) == 1 and "is no State record" in told[0]
            assert unreadable or (told and all(row.startswith(named(path)) for row in told)), path
            seen += not unreadable
        assert seen > 60


@pytest.mark.parametrize("number", [0, 1])
def test_of_a_memory_record_what_others_write_is_left_alone(run, number):
    place = run / f"memory/v{number}.json"
    text = json.loads(place.read_text())
    with RunFolder.open(run) as opened:
        retold = retell(opened)
        assert memory_leaves(opened, retold, number) == ()
        for path, value in leaves(text):
            if path[0] in ("version", "schema_version") or value in ([], {}):
                continue
            place.write_text(json.dumps(edited(text, path, other(value))))
            told = memory_leaves(opened, retold, number)
            free = path[0] in BY_PEOPLE and path[0] != "git_commit_hash"
            assert free or told, path
            if path[0] in ("masked", "isa_metric_progress", "open_directions", "extra"):
                assert all("is no MemoryRecord" in row for row in told), path


def test_a_list_that_was_cut_or_grew_is_named(run):
    text = json.loads((run / "state.json").read_text())
    verdict = {"version": 1, "method": "split_k", "verdict": "effective", "gain": 0.9}
    with RunFolder.open(run) as opened:
        retold = retell(opened)
        for change, words in (
            ({"verdicts": []}, "verdicts[0] is not there"),
            ({"verdicts": [*text["verdicts"], verdict]}, "; the journal gives not there"),
        ):
            (run / "state.json").write_text(json.dumps({**text, **change}))
            assert any(words in row for row in state_leaves(opened, retold))


def gain(run):
    text = json.loads((run / "state.json").read_text())
    text["verdicts"][0]["gain"] = 0.99
    (run / "state.json").write_text(json.dumps(text))


def lesson(run):
    text = json.loads((run / "memory/v1.json").read_text())
    text["experience"]["experiments"][0]["lesson"] = "always use it"
    text["extra"] = {"note": "by hand"}
    (run / "memory/v1.json").write_text(json.dumps(text))


def gone(run):
    (run / "memory/v1.json").unlink()


UNTRUE = {
    "verdicts[0].gain is 0.99": gain,
    "experience.experiments[0].lesson": lesson,
    "no record of v1": gone,
}


@pytest.mark.parametrize("told", UNTRUE)
def test_what_is_untrue_is_refused_everywhere_and_resume_writes_it_again(run, told):
    before = (run / "state.json").read_bytes()
    UNTRUE[told](run)
    for words in (
        ("gate", str(run / "v1"), "--final", "--dry-run"), ("loop", "status", str(run)),
        ("capsule", str(run)),
    ):  # fmt: skip
        code, text = asked(run, *words)
        assert (code, told in text) == (1, True), (words, text)
        assert f"`kbs loop resume {shlex.quote(str(run))}` writes it again" in text
    code, text = asked(run, "loop", "resume", str(run))
    assert code == 0, text
    assert "written again" in text
    assert asked(run, "loop", "status", str(run))[0] == 0
    with RunFolder.open(run) as opened:
        assert check_version(opened, 1, final=True) == ()
    assert (run / "state.json").read_bytes() == before
    if told.startswith("experience"):
        kept = json.loads((run / "memory/v1.json").read_text())
        assert kept["extra"] == {"note": "by hand"}


def first(folder):
    return min(path for path in folder.rglob("*") if path.is_file())


LOST = {
    "results are gone": lambda run: shutil.rmtree(run / ".kbs/results"),
    "contents are gone": lambda run: shutil.rmtree(run / ".kbs/blobs"),
    "a result is empty": lambda run: first(run / ".kbs/results").write_text(""),
    "a result is garbage": lambda run: first(run / ".kbs/results").write_bytes(b"\xff{"),
    "contents are garbage": lambda run: [
        path.write_text("x") for path in (run / ".kbs/blobs").rglob("*") if path.is_file()
    ],
}


@pytest.mark.parametrize("how", LOST)
@pytest.mark.parametrize("stands", ["run", "unfinished"])
def test_an_answer_that_is_lost_is_told_before_anything_is_built_on_it(request, stands, how):
    run = request.getfixturevalue(stands)
    LOST[how](run)
    for words in (
        ("gate", str(run / "v0"), "--dry-run"), ("loop", "status", str(run)),
        ("loop", "extend", str(run), "-n", "1"), ("loop", "next", str(run)),
        ("loop", "finalize", str(run)), ("loop", "restart", str(run)),
    ):  # fmt: skip
        code, text = asked(run, *words)
        assert code == 1, (words, text)
        assert "answers: .kbs/" in text
        assert "goes on" not in text


def test_what_another_version_of_kbs_wrote_is_told_as_not_checked(run, monkeypatch):
    gain(run)
    monkeypatch.setattr(told_again, "__version__", "9.9")
    code, text = asked(run, "loop", "status", str(run))
    assert code == 0
    assert "are not checked against the journal" in text
    code, text = asked(run, "--json", "gate", str(run / "v1"), "--final", "--dry-run")
    assert not [row for row in json.loads(text)["refusals"] if row["rule"] == "retold"]
    assert any("another version of kbs" in row for row in json.loads(text)["unchecked"])


def test_a_loop_that_writes_otherwise_judges_nothing(run, monkeypatch):
    gain(run)
    monkeypatch.setattr("kbs_engine.loop.deciding.plan_text", lambda _: "# Another plan\n")
    with RunFolder.open(run) as opened:
        found = standing(opened)
    assert damage_of(found) == ()
    assert any("see v0/plan.md" in row for row in found.unchecked)


def test_a_loop_that_asks_otherwise_does_not_claim_to_go_on(unfinished, monkeypatch):
    monkeypatch.setattr("kbs_engine.loop.versions.baseline_arms", lambda _: ())
    code, text = asked(unfinished, "loop", "status", str(unfinished))
    assert code == 0
    assert "another version of kbs" in text
    assert "goes on" not in text
    code, text = asked(unfinished, "loop", "next", str(unfinished))
    assert (code, "version of kbs that began it" in text) == (2, True)


def damage_of(found):
    return (*found.damage, *found.untrue)


def test_a_home_that_never_saw_the_run_says_so_in_json_too(run):
    code, text = asked(run, "--json", "gate", str(run / "v1"), "--final", "--dry-run")
    assert code == 0
    assert json.loads(text)["unchecked"] == [
        "this home folder never saw the run: its journal's end is not checked"
    ]
    code, text = asked(run, "--json", "loop", "status", str(run))
    assert json.loads(text)["unchecked"]


@pytest.mark.parametrize("name", ["v1/branches/b0/kernel.py", "v1/branches/b0/bench.json"])
def test_the_remedy_for_a_version_in_work_works(unfinished, name):
    place = unfinished / name
    before = place.read_bytes()
    place.write_text("x = 1\n")
    code, text = asked(unfinished, "loop", "resume", str(unfinished))
    assert code == 1
    assert f"{name}: was changed" in text
    assert "checkout" not in text
    offered = text.partition("restore it (`")[2].partition("`)")[0]
    if offered:
        subprocess.run(offered, shell=True, check=True)
    else:
        assert "remove it; `kbs loop resume" in text
        place.unlink()
    code, text = asked(unfinished, "loop", "resume", str(unfinished))
    assert code == 0, text
    assert place.read_bytes() == before
    with RunFolder.open(unfinished) as opened:
        assert damage(opened) == ()
        assert check_version(opened, 1, final=True) == ()


def test_an_honest_run_stands_at_every_stage(tmp_path):
    """Also in the midst of a version, whose files a crash may have cut short."""
    with started(tmp_path, iterations=1, slots=1) as run:
        device = Host(run.blobs, REPORT)
        world = wired(run, run.state().settings, Wiring(home=None, roots=(), remember=False))
        for stage in ("measure", "plan", "branch", "champion", "ablate", "record", "finalize"):
            Driver(run, device, world, Writer(run), Quiet()).go(stage_ends(stage))
            assert damage_of(standing(run)) == (), stage
            assert standing(run).gone == (), stage
        device.close()
        assert run.state().ended
