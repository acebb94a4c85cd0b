"""Tools that are started ahead of their jobs, on stand-ins for ncu and compute-sanitizer."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from kbs_backends.device import LocalDevice, proc
from kbs_backends.device.ahead import StartedAhead
from kbs_backends.device.ahead_child import PROGRAM, AheadChild
from kbs_backends.device.await_request import SOCKET
from kbs_backends.device.environ import child_environment
from kbs_backends.device.outside import Outside
from kbs_backends.device.static_jobs import StaticJobs
from kbs_backends.profilers import NcuProfiler, Target, ToolStart
from kbs_backends.run_tool import run_tool
from kbs_backends.sanitizer import tool_start
from kbs_engine.blobs import BlobStore
from kbs_engine.jobs import Check, ProfileJob, Result, Sanitize, SourceRef, Task
from kbs_engine.results import Machine, Profiled, Sanitized, read
from tests.backends.device.conftest import HEAD, HONEST, REFERENCE

pytestmark = pytest.mark.slow

NCU = """#!/bin/sh
echo "ncu $*" >> "{said}"
while [ "$1" != -o ]; do shift; done
out=$2; shift 2
"$@"; code=$?
printf report > "$out.ncu-rep"
exit $code
"""

SANITIZER = """#!/bin/sh
echo "sanitizer $*" >> "{said}"
while [ "$1" != {python} ]; do shift; done
"$@"; code=$?
echo "========= ERROR SUMMARY: 0 errors"
exit $code
"""

TELLS = """
import json, os, sys
found = {{
    "argv": sys.argv[1:], "cwd": os.getcwd(), "path": sys.path,
    "env": dict(os.environ), "group": os.getpgrp(), "umask": os.umask(0),
    "sockets": [n for n in os.listdir("/proc/self/fd")
                if os.path.lexists(f"/proc/self/fd/{{n}}")
                and os.readlink(f"/proc/self/fd/{{n}}").startswith("socket:")],
}}
os.umask(found["umask"])
open({file!r}, "w").write(json.dumps(found))
"""
"""A candidate that writes down in what it was loaded."""

MACHINE = Machine(device="cuda", gpu="none", arch="sm_90a", counters=True)
NARROW, WIDE = ("SpeedOfLight",), ("SpeedOfLight", "Occupancy")
PLENTY = 1 << 40


class OnCpu(Outside):
    """The outside of a GPU, with a dry run in the place of the call on it."""

    def command(self, source, task, machine):
        return (*super().command(source, task, machine), "--device", "cpu")


class Bench:
    """Stand-ins on PATH, an outside, and its tools that wait."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said = folder / "said"
        self.said.touch()
        self.blobs = BlobStore(folder / "blobs")
        self.task = Task(reference_sha256=self.blobs.put(REFERENCE), dims={"N": 300})
        self.outside = OnCpu(
            self.blobs, StaticJobs(self.blobs, folder / "static"), folder / "outside", "cuda", 0
        )
        self.room = PLENTY
        self.ahead = StartedAhead(folder / "outside", cores=lambda: 8, free_bytes=lambda: self.room)
        self.outside._ahead = self.ahead

    def source(self, text: str) -> SourceRef:
        sha256 = self.blobs.put(HEAD + text + HONEST)
        return SourceRef(sha256=sha256, language="triton", name="kernel.py")

    def profile(self, text: str = "", sections: tuple[str, ...] = NARROW) -> Profiled:
        job = ProfileJob(source=self.source(text), task=self.task, sections=sections)
        return read(self.outside.run(job, MACHINE), Profiled)

    def told(self) -> tuple[Profiled, dict]:
        file = self.folder / "told.json"
        answer = self.profile(TELLS.format(file=str(file)))
        return answer, json.loads(file.read_text())

    def waits(self, start: ToolStart) -> AheadChild:
        """The one that waits for this start, once it is ready; jobs ask for no further ones."""
        self.room = PLENTY
        self.ahead.expect(start)
        self.room = 0
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            child = self.child(start)
            if child is not None and child.ready.wait(60) and child.channel is not None:
                return child
            time.sleep(0.02)
        raise AssertionError("none became ready")

    def child(self, start: ToolStart) -> AheadChild | None:
        return self.ahead._waiting.get((start.command, tuple(sorted(start.env.items()))))

    def folders(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "outside").glob("ahead-*"))


@pytest.fixture
def bench(tmp_path, monkeypatch):
    programs = tmp_path / "bin"
    programs.mkdir()
    made = Bench(tmp_path)
    for name, text in (("ncu", NCU), ("compute-sanitizer", SANITIZER)):
        (programs / name).write_text(text.format(said=made.said, python=sys.executable))
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    yield made
    made.ahead.close()


def gone(pids, seconds=20.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if all(proc.ended(pid) for pid in pids):
            return True
        time.sleep(0.02)
    return False


def start_of(sections=NARROW) -> ToolStart:
    return NcuProfiler().start(sections)


def test_one_that_waited_gives_what_a_usual_start_gives_and_says_what_was_run(bench):
    usual, usual_told = bench.told()
    child = bench.waits(start_of())
    family = {child.pid, *proc.descendants(child.pid)}
    assert not (child.folder / SOCKET).exists(), "no way to it is left once it waits"
    answer, told = bench.told()
    assert gone(family)
    assert not child.folder.exists()
    _same_world(usual_told, told)
    _same_answer(bench, usual, answer, child)


def _same_world(usual, ahead):
    for told in (usual, ahead):
        told["cwd"] = told["cwd"].rpartition("-")[0]
        told["path"] = [entry.rpartition("profile-")[0] or entry for entry in told["path"]]
        assert told["sockets"] == []
    for told in (usual, ahead):
        del told["env"]["PWD"]  # the stand-in is a shell
    assert usual == ahead


def _same_answer(bench, usual, answer, child):
    assert answer.command == child.command
    assert answer.command[-3:] == ("kbs_backends.device.single_call", "--wait", str(os.getpid()))
    asked = answer.collected.arguments
    assert (*PROGRAM, *asked) == usual.command[-len(PROGRAM) - len(asked) :]
    assert (usual.collected.arguments, usual.report_sha256) == ((), answer.report_sha256)
    assert bench.blobs.get(answer.report_sha256) == b"report"
    one, other = (command[: command.index("-o")] for command in (usual.command, answer.command))
    assert one == other
    assert "SpeedOfLight" in one


@pytest.mark.sweep
def test_one_that_was_killed_while_it_waited_is_replaced_by_a_usual_start(bench):
    child = bench.waits(start_of())
    (program,) = proc.descendants(child.pid)
    os.kill(program, signal.SIGKILL)
    answer = bench.profile()
    assert answer.collected.arguments == ()
    assert bench.blobs.get(answer.report_sha256) == b"report"
    bench.waits(start_of()).end()
    assert bench.profile().collected.arguments == (), "a tool that is gone, and its folder with it"


@pytest.mark.sweep
def test_one_that_takes_no_request_is_replaced(bench, monkeypatch):
    monkeypatch.setattr("kbs_backends.device.ahead_child.BEGIN_S", 0.5)
    child = bench.waits(start_of())
    family = proc.descendants(child.pid)
    for pid in family:
        os.kill(pid, signal.SIGSTOP)
    assert bench.profile().collected.arguments == ()
    assert gone({child.pid, *family})


@pytest.mark.sweep
def test_each_way_to_start_a_tool_has_its_own(bench):
    narrow, wide = bench.waits(start_of()), bench.waits(start_of(WIDE))
    assert narrow.pid != wide.pid
    assert bench.waits(start_of()) is narrow
    assert bench.profile(sections=WIDE).command == wide.command
    assert narrow.alive
    assert bench.profile().command == narrow.command


def test_what_a_job_asked_for_waits_for_the_next(bench):
    assert bench.profile().collected.arguments == ()
    assert len(bench.ahead._waiting) == 1
    bench.waits(start_of())
    assert bench.profile().collected.arguments != ()


@pytest.mark.sweep
def test_the_sanitizer_waits_as_each_of_its_tools(bench):
    job = Sanitize(source=bench.source(""), task=bench.task, tools=("memcheck", "initcheck"))
    children = [bench.waits(tool_start(tool)) for tool in job.tools]
    answer = read(bench.outside.run(job, MACHINE), Sanitized)
    assert answer.clean
    assert gone([child.pid for child in children])
    said = bench.said.read_text().splitlines()
    assert all("--launch-timeout" in line for line in said), "no usual start was made"
    assert {"--padding 512" in line for line in said} == {True, False}
    assert children[0].env["PYTORCH_NO_CUDA_MEMORY_CACHING"] == "1"


@pytest.mark.sweep
def test_a_changed_environment_takes_a_usual_start(bench, monkeypatch):
    bench.waits(start_of())
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    assert bench.told()[1]["env"]["CUDA_VISIBLE_DEVICES"] == "7"


@pytest.mark.sweep
def test_a_candidate_that_hangs_is_ended_in_time(bench, tmp_path):
    hangs = tmp_path / "k.py"
    hangs.write_text(HEAD + "import time\ntime.sleep(600)\n")
    (tmp_path / "ref.py").write_text(REFERENCE)
    argv = (*PROGRAM, str(hangs), str(tmp_path / "ref.py"), '{"N": 9}', "--language", "triton",
            "--device", "cpu")  # fmt: skip
    child = bench.waits(start_of())
    time.sleep(1.0)  # more than half of the time that the call may take
    family = {child.pid, *proc.descendants(child.pid)}
    target = Target(argv=argv, env=child_environment(), cwd=str(tmp_path), timeout_s=1.5)
    began = time.monotonic()
    finished = bench.ahead.run(start_of(), target, tmp_path / "out")
    assert 1.4 < time.monotonic() - began < 10
    assert finished.timed_out
    assert finished.run.why() == "no answer within 1.5 s"
    assert gone(family)
    assert run_tool(("sh", "-c", "sleep 600 & wait"), timeout_s=0.2).code is None


@pytest.mark.sweep
def test_a_stranger_is_told_nothing(bench):
    bench.outside._workdir.mkdir(exist_ok=True)
    child = AheadChild(start_of(), child_environment(), bench.outside._workdir)
    with socket.socket(socket.AF_UNIX) as stranger:
        folder = os.open(child.folder, os.O_PATH)
        stranger.connect(f"/proc/self/fd/{folder}/{SOCKET}")
        os.close(folder)
        assert child.settle(threading.Event())
        assert child.channel.socket.fileno() >= 0
        stranger.settimeout(5)
        assert stranger.recv(1) == b"", "the device hung up"
    child.end()


def test_closing_leaves_nothing(bench):
    bench.waits(start_of())
    bench.room = PLENTY
    bench.ahead.expect(start_of(WIDE))
    while not bench.ahead.pids() or bench.child(start_of(WIDE)) is None:
        time.sleep(0.01)
    family = {pid for one in bench.ahead.pids() for pid in (one, *proc.descendants(one))}
    assert len(bench.ahead.pids()) == 2
    began = time.monotonic()
    bench.outside.close()
    assert time.monotonic() - began < 10
    assert gone(family)
    assert bench.folders() == []
    bench.ahead.expect(start_of())
    assert bench.ahead.pids() == ()


OWNER = """
import sys, time
from pathlib import Path
from kbs_backends.device.ahead import StartedAhead
from kbs_backends.profilers import NcuProfiler
made = StartedAhead(Path(sys.argv[1]), cores=lambda: 8, free_bytes=lambda: 1 << 40)
made.expect(NcuProfiler().start())
while not made.pids():
    time.sleep(0.01)
(child,) = made._waiting.values()
ready = sys.argv[2] == "ready"
assert not ready or (child.ready.wait(60) and child.channel)
print(child.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("when", ["ready", "importing"])
def test_a_killed_device_takes_what_waits_with_it(bench, tmp_path, when):
    with subprocess.Popen(
        (sys.executable, "-c", textwrap.dedent(OWNER), str(tmp_path / "work"), when),
        stdout=subprocess.PIPE, text=True, env=child_environment(),
    ) as device:  # fmt: skip
        pid = int(device.stdout.readline())
        family = {pid, *proc.descendants(pid)}
        assert not any(proc.ended(one) for one in family)
        device.kill()
    assert gone(family)


def _answered(job) -> Result:
    return Result(job_key=job.key, kind="check", value={})


def test_a_device_expects_its_tools_once_it_checks_and_lets_them_go_when_it_closes(
    tmp_path, monkeypatch
):
    expected, closed = [], []
    monkeypatch.setattr(StartedAhead, "expect", lambda _, start: expected.append(start))
    monkeypatch.setattr(StartedAhead, "close", lambda _: closed.append(True))
    blobs = BlobStore(tmp_path / "blobs")
    source = SourceRef(sha256=blobs.put("x"), language="triton", name="k.py")
    job = Check(source=source, task=Task(reference_sha256=blobs.put("x"), dims={}))
    with LocalDevice(blobs, kind="host", workdir=tmp_path / "work") as device:
        device._outside._kind = "cuda"
        monkeypatch.setattr(device, "_on_device", _answered)
        device.submit(job).result()
        device.expect_many()
        device.submit(job).result()
        assert expected == [], "without a machine nothing is known of its tools"
        device._machine = MACHINE
        device.submit(job).result()
        asked = [tool_start(tool) for tool in ("memcheck", "racecheck", "initcheck")]
        assert expected == [*asked, NcuProfiler().start()]
        assert not closed
    assert closed


def test_nothing_waits_on_a_small_machine_or_without_the_tool(tmp_path, bench):
    roomy = {"cores": lambda: 8, "free_bytes": lambda: 1 << 40}
    for less in ({"cores": lambda: 2}, {"free_bytes": lambda: 1 << 30}):
        small = StartedAhead(tmp_path / "small", **(roomy | less))
        small.expect(start_of())
        small.close()
    large = StartedAhead(tmp_path / "small", **roomy)
    large.expect(ToolStart(command=("no-such-ncu", "-o", "@output@")))
    large.close()
    assert not (tmp_path / "small").exists()
    assert bench.said.read_text() == ""


def test_one_that_dies_again_and_again_is_not_started_for_ever(bench):
    Path(bench.said.parent, "bin", "ncu").write_text("#!/bin/sh\nexit 3\n")
    for _ in range(4):
        bench.ahead.expect(start_of())
        while bench.child(start_of()) is not None or bench.ahead._waiting:
            time.sleep(0.01)
    assert bench.ahead._faults.total() == 2
    assert bench.folders() == []
