"""A sanitizer pass is clean only when its own summary says so."""

from __future__ import annotations

import pytest

from kbs_backends.profilers import Target
from kbs_backends.run_tool import ToolRun
from kbs_backends.sanitizer import read_verdict, sanitize

CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
FAULTY = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at bad(float *)+0x90 in bad.cu:7
=========     by thread (31,0,0) in block (0,0,0)
========= ERROR SUMMARY: 32 errors
"""
RACE = """========= Error: Race reported between Write access at racy(int *)+0x70
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""


def run(text, code=0):
    return ToolRun(command=("compute-sanitizer",), code=code, stdout=text)


def test_a_clean_pass():
    verdict = read_verdict("memcheck", run(CLEAN))
    assert (verdict.ran, verdict.errors) == (True, 0)


def test_faults_are_counted_and_named():
    verdict = read_verdict("memcheck", run(FAULTY, 86))
    assert (verdict.ran, verdict.errors) == (True, 32)
    assert "Invalid __global__ write" in verdict.detail
    assert "bad.cu:7" in verdict.detail


def test_a_race_is_a_fault():
    verdict = read_verdict("racecheck", run(RACE, 86))
    assert (verdict.ran, verdict.errors) == (True, 1)
    assert "Race reported" in verdict.detail


@pytest.mark.parametrize(
    ("text", "code"), [("", 0), ("Segmentation fault", 139), (CLEAN, 1), ("", None)]
)
def test_what_did_not_run_to_its_end_is_never_clean(text, code):
    verdict = read_verdict("memcheck", run(text, code))
    assert not verdict.ran
    assert verdict.detail.startswith("not run")


def test_a_missing_sanitizer_is_told():
    answer = sanitize(Target(argv=("true",)), program="no-such-sanitizer")
    assert answer.clean is None
    assert all("not on PATH" in tool.detail for tool in answer.tools)


def test_an_unknown_tool_is_told():
    answer = sanitize(Target(argv=("true",)), ("magic",))
    assert "no tool magic" in answer.tools[0].detail


def test_memcheck_keeps_allocations_apart(tmp_path):
    program = tmp_path / "sanitizer"
    program.write_text(
        '#!/bin/sh\necho "$PYTORCH_NO_CUDA_MEMORY_CACHING $*" >> "$0.said"\n'
        "echo '========= ERROR SUMMARY: 0 errors'\n"
    )
    program.chmod(0o755)
    answer = sanitize(Target(argv=("true",)), ("memcheck", "initcheck"), program=str(program))
    assert answer.clean
    initcheck, memcheck = sorted((tmp_path / "sanitizer.said").read_text().splitlines())
    assert memcheck.startswith("1 --tool memcheck ")
    assert "--padding 512 true" in memcheck
    assert initcheck.startswith("1 --tool initcheck ")
    assert "--padding" not in initcheck


def test_a_tool_that_did_not_run_beside_the_others_runs_alone(tmp_path):
    program = tmp_path / "sanitizer"
    program.write_text(
        '#!/bin/sh\nmkdir "$0.busy" 2>/dev/null || exit 2\nsleep 0.5\nrmdir "$0.busy"\n'
        "echo '========= ERROR SUMMARY: 0 errors'\n"
    )
    program.chmod(0o755)
    tools = ("memcheck", "racecheck", "initcheck")
    answer = sanitize(Target(argv=("true",)), tools, program=str(program))
    assert [(one.tool, one.ran, one.errors) for one in answer.tools] == [
        (tool, True, 0) for tool in tools
    ]
