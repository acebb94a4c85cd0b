"""Replayed runs from outside: the final gate, a second finalize with sync and stats, reports."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from kbs_engine.errors import InputError, UsageError
from tests.loop.cases import CASES, KERNELS
from tests.loop.replaying import kbs, kbs_json
from tests.thinned import thinned

ENDED = ("faster", "no_better", "all_wrong")


@pytest.fixture(scope="module", params=ENDED)
def ended(request, tmp_path_factory):
    """A replayed run that went to its end, with its home and its answer."""
    case, root = CASES[request.param], tmp_path_factory.mktemp(request.param)
    device, run = f"recorded:{case.recording}", root / "run"
    answer = kbs_json(root / "home", "optimize", *case.arguments(device, run))
    return root / "home", run, answer


def test_the_final_gate_passes_from_the_command_line(ended):
    home, run, answer = ended
    last = f"v{answer['current_version']}"
    told = kbs_json(home, "gate", str(run / last), "--final", "--dry-run")
    assert told["passed"] is True
    assert told["refusals"] == []


def test_memory_says_what_the_gate_said_and_names_the_commit(ended):
    _, run, answer = ended
    for row in answer["versions"]:
        record = json.loads((run / f"memory/v{row['version']}.json").read_text())
        assert record["quality_gate"] == {"result": "PASS", "failure_reason": ""}
        assert record["git_commit_hash"] == row["commit"]
        inside = git(run, "show", f"{row['commit']}:memory/v{row['version']}.json")
        assert json.loads(inside)["quality_gate"]["result"] == "PASS"


def test_the_reports_and_the_last_state_are_committed(ended):
    _, run, _ = ended
    # the journal alone goes on, for the answer that names this very commit comes after it
    assert git(run, "status", "--porcelain").split() in ([], ["M", "events.jsonl"])
    tracked = git(run, "ls-files").split()
    assert {"benchmark.md", "final_report.md", "summary.md", "report.html"} <= set(tracked)


def git(run, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=run, capture_output=True, text=True, check=True)
    return done.stdout


def test_a_gate_on_a_finished_run_says_what_to_ask_instead(ended):
    home, run, answer = ended
    last = kbs(home, "gate", str(run / f"v{answer['current_version']}"), "--dry-run", code=1)
    assert "ask with --final" in last
    first = kbs(home, "gate", str(run / "v0"), "--dry-run", code=1)
    assert "was opened when v0 passed its gate" in first
    assert "move v1/" not in first


def test_a_second_finalize_measures_nothing_and_counts(ended, tmp_path):
    home, run, _ = ended
    before = (run / "events.jsonl").read_bytes()
    target = tmp_path / "shared"
    target.mkdir()
    told = kbs_json(home, "loop", "finalize", str(run), "--sync", str(target))
    jobs = (run / "events.jsonl").read_bytes()[len(before) :]
    assert b"job_started" not in jobs
    assert told["experience"]["sync"]["target"] == str(target)
    assert told["experience"]["stats"]["outcomes"] >= 0
    shown = kbs(home, "loop", "finalize", str(run))
    assert "outcomes:" in shown
    assert "segments sent" not in shown, "no target, no exchange"


def test_evidence_is_named_once_and_only_where_a_change_rests_on_it(ended):
    _, run, answer = ended
    text = (run / "final_report.md").read_text()
    lines = text.partition("## Evidence used")[2].partition("\n## ")[0].strip().splitlines()
    passages = [line.partition(": ")[2] for line in lines]
    assert passages
    assert len(set(passages)) == len(passages)
    versions = " ".join(line.partition(":")[0] for line in lines)
    assert f"v{answer['current_version']}" not in versions, "no change leaves the last version"


class Page(HTMLParser):
    """Balanced tags, ids and fragments, and no address outside the page."""

    VOID = frozenset({"meta", "br", "hr", "img", "link", "input", "col", "wbr"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []
        self.ids: list[str] = []
        self.fragments: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if "id" in found:
            self.ids.append(found["id"])
        for name in ("href", "src", "xlink:href"):
            value = found.get(name) or ""
            if value.startswith("#"):
                self.fragments.append(value[1:])
            elif value and not value.startswith("data:"):
                self.faults.append(f"{tag} {name}={value}")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing that is open")

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_is_whole_and_needs_no_network(ended):
    _, run, answer = ended
    html = (run / "report.html").read_text()
    page = Page()
    page.feed(html)
    page.close()
    assert page.faults == []
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.fragments) <= set(page.ids)
    words = " ".join(page.text)
    for row in answer["versions"]:
        assert f"v{row['version']}" in words
    assert "nan" not in words.lower().split()
    assert "None" not in words.split()


@pytest.mark.parametrize("name", thinned(["benchmark.json", "report.html", "test_kernel.py"]))
def test_what_was_measured_or_written_may_not_go_or_change(ended, tmp_path, name):
    _, run, answer = ended
    last = f"v{answer['current_version']}"
    for change in ("gone", "changed"):
        copy = tmp_path / change
        shutil.copytree(run, copy)
        if change == "gone":
            (copy / name).unlink()
        else:
            (copy / name).write_text((copy / name).read_text() + "\n")
        told = kbs(tmp_path / "home", "gate", str(copy / last), "--final", "--dry-run", code=1)
        assert f"unedited: {name}" in told


def test_a_kernel_that_could_never_be_a_version_is_not_taken(tmp_path):
    case, run, home = CASES["agent"], tmp_path / "run", tmp_path / "home"
    kbs(home, "loop", "init", *case.arguments(f"recorded:{case.recording}", run))
    kbs(home, "loop", "next", str(run))
    empty, same = tmp_path / "empty.py", tmp_path / "same.py"
    empty.write_text("\n")
    same.write_text((run / "v0" / "kernel.py").read_text())
    with pytest.raises(UsageError, match="holds no kernel"):
        kbs(home, "loop", "submit", str(run), str(empty))
    with pytest.raises(UsageError, match="byte for byte"):
        kbs(home, "loop", "submit", str(run), str(same))
    assert not [
        line for line in (run / "events.jsonl").read_text().splitlines()
        if json.loads(line)["kind"] == "submitted"
    ]  # fmt: skip
    other, torn = tmp_path / "kernel.cu", tmp_path / "torn.py"
    other.write_text("__global__ void f() {}\n")
    torn.write_text("def (:\n")
    with pytest.raises(UsageError, match=r"is a \.cu file"):
        kbs(home, "loop", "submit", str(run), str(other))
    with pytest.raises(InputError, match="does not parse") as torn_told:
        kbs(home, "loop", "submit", str(run), str(torn))
    assert torn_told.value.where == f"{torn}:1"
    good = KERNELS / "agent_host" / "submitted.py"
    assert "replaces" not in kbs(home, "loop", "submit", str(run), str(good))
    assert "replaces 1 submitted before" in kbs(home, "loop", "submit", str(run), str(good))
    assert kbs_json(home, "loop", "submit", str(run), str(good))["replaces"] == 1


def test_a_pending_order_of_a_finished_run_is_told_by_status(ended, tmp_path):
    _, run, _ = ended
    copy, home = tmp_path / "a run", tmp_path / "home"
    shutil.copytree(run, copy)
    kbs(home, "loop", "restart", str(copy))
    told = kbs(home, "loop", "status", str(copy))
    assert "ordered and not followed yet: restart (masked" in told
    assert kbs_json(home, "loop", "status", str(copy))["orders"][0]["kind"] == "restart"


def test_commands_of_a_run_whose_path_has_a_blank_can_be_pasted(ended, tmp_path):
    _, run, _ = ended
    copy, home = tmp_path / "a run", tmp_path / "home"
    shutil.copytree(run, copy)
    told = kbs(home, "loop", "extend", str(copy), "-n", "1")
    assert f"`kbs loop next '{copy}'`" in told
    (copy / "v0" / "hypothesis.txt").unlink()
    last = max(int(path.name[1:]) for path in copy.glob("v[0-9]*"))
    told = kbs(home, "gate", str(copy / f"v{last}"), "--final", "--dry-run", code=1)
    offered = re.findall(r"`(git -C .+? checkout -- v0/hypothesis\.txt)`", told)
    assert offered
    assert "the run has ended with this version" not in told
    subprocess.run(offered[0], shell=True, check=True, capture_output=True)
    assert (copy / "v0" / "hypothesis.txt").is_file()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("dims.M=abc", "dims.M cannot become 'abc'"),
        ("dims.M=-4", "dims.M is a size"),
        ("dims.M=64.5", "dims.M cannot become 64.5"),
        ("dims.K=8", "dims.K cannot become 8"),
        ("language=cuda-cpp", "language was found"),
        ("gpu=Another", "gpu was found"),
        ("rtol=-1", "rtol is no less than 0"),
        ("noise=nan", "noise is a number, not 'nan'"),
        ("noise=1", "noise is a share"),
        ("branches=65", "branches is 1 to 64"),
        ("slots=0", "slots is 1 to 6"),
        ("process_pairs=1000", "process_pairs is 1 to 20"),
        ("timing.trials=99999999", "trials is at most 1000000"),
        ("timing.method=do_bench", "no run is timed by it"),
        ("gpu_seconds=-1", "gpu_seconds is a time above 0"),
        ("device=cuda:7", "the device of a run stays"),
        ("timing.bogus=1", r"timing\.bogus is no setting"),
        ('target={"kind": "time", "value": 9, "unit": "ns", "by": 1}', r"target\.by is no setting"),
        ('placeholders=[{"metric": "x", "value": -1}]', "gives no value"),
        (
            'placeholders=[{"metric": "x", "value": 1, "m": 1}]',
            r"placeholders\[0\]\.m is no setting",
        ),
        ("proposer=command", "names no program"),
        ("dims={}", "dims leave out"),
        ("branches=two", "branches is a whole number, not 'two'"),
    ],
)
def test_an_order_that_could_never_be_followed_is_not_taken(ended, change, words):
    home, run, _ = ended
    before = (run / "events.jsonl").read_bytes()
    with pytest.raises(UsageError, match=words):
        kbs(home, "loop", "set", str(run), "--set", change)
    assert (run / "events.jsonl").read_bytes() == before
