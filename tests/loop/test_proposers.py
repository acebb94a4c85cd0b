"""Who writes the next kernel: what each proposer answers, and how each may fail."""

from __future__ import annotations

import json
import sys
import time

import msgspec
import pytest

from kbs.proposers.builtin import BuiltinProposer
from kbs.proposers.command import CommandProposer, schemas
from kbs_engine.errors import MeasurementError, UsageError
from kbs_engine.jobs import Task
from kbs_engine.plans import Plan, PlannedMethod
from kbs_engine.proposals import Answer, Candidate, Request
from kbs_engine.run.records import Budget, Contract, RequestFile

SOURCE = '''"""Unmarked but for two switches."""
BLOCK = 64  # kbs:tunable 32, 64
FIRST = False  # kbs:method single_pass_algorithm
SECOND = True  # kbs:method hoist_invariants
'''


def request(*methods: str, attempt: int = 1, source: str = SOURCE) -> Request:
    planned = tuple(
        PlannedMethod(
            method=method, axis="memory", evidence="e", change="c", expected={}, risk="r",
            decision_rule="d",
        )
        for method in methods
    )  # fmt: skip
    slots = max(1, len(methods))
    file = RequestFile(
        run_id="run", version=0, next_version=1, base_version=0, base_file="v0/kernel.py",
        base_sha256="0" * 64,
        budget=Budget(slots=slots, axis_slots={"memory": min(2, slots)}),
        plan=Plan(methods=planned, slots=slots, axis_slots={"memory": slots}),
        contract=Contract(language="triton", entry="run_kernel", rules=(), dims={"M": 8}),
    )  # fmt: skip
    return Request(file=file, source=source, attempt=attempt)


def builtin() -> BuiltinProposer:
    return BuiltinProposer(Task(reference_sha256="0" * 64, dims={"M": 8}))


def test_builtin_switches_on_what_is_planned_and_keeps_the_rest():
    (candidate,) = builtin().propose(request("single_pass_algorithm"))
    assert "FIRST = True" in candidate.text
    assert "SECOND = True" in candidate.text
    assert "BLOCK = 64" in candidate.text
    assert candidate.methods == ("single_pass_algorithm",)


def test_builtin_says_what_it_cannot_write():
    why = builtin().unwritable(
        SOURCE, "triton",
        ("single_pass_algorithm", "hoist_invariants", "wgmma", "block_size_tuning",
         "launch_parameter_tuning"),
        tunable=True,
    )  # fmt: skip
    assert set(why) == {"hoist_invariants", "wgmma", "launch_parameter_tuning"}
    assert why["hoist_invariants"] == "its switch is on already"
    assert "no rewrite" in why["wgmma"]
    assert "block_size_tuning" in why["launch_parameter_tuning"]


def test_builtin_tries_methods_alone_after_a_failure():
    both = ("single_pass_algorithm", "block_size_tuning")
    first = builtin().propose(request(*both))
    second = builtin().propose(request(*both, attempt=2))
    third = builtin().propose(request(*both, attempt=3))
    assert [one.methods for one in (*first, *second, *third)] == [both, both[:1], both[1:]]
    assert builtin().propose(request(*both, attempt=4)) == []
    assert builtin().propose(request("single_pass_algorithm", attempt=2)) == []


def command(script: str, **options: float) -> CommandProposer:
    return CommandProposer(f"{sys.executable} -c '{script}'", **options)


def test_a_command_is_given_the_request_and_answers_candidates():
    script = (
        "import json, sys; asked = json.load(sys.stdin); "
        'print(json.dumps({"candidates": [{"text": asked["source"] + "# more", '
        '"methods": [asked["file"]["plan"]["methods"][0]["method"]]}]}))'
    )
    (candidate,) = command(script).propose(request("vectorized_access"))
    assert candidate.text.endswith("# more")
    assert candidate.methods == ("vectorized_access",)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ('print("here you are")', "printed what is no answer"),
        ('print("{}")', "printed what is no answer"),
        ('print("{\\"candidates\\": [{\\"text\\": \\"\\"}]}")', "printed what is no answer"),
        ('print("{\\"candidates\\": [], \\"more\\": 1}")', "printed what is no answer"),
        ('import sys; print("no idea", file=sys.stderr); sys.exit(3)', "ended with 3: no idea"),
        (
            'print("{\\"candidates\\": [{\\"text\\": \\"x\\", \\"methods\\": [\\"wgmma\\"]}]}")',
            "which the plan does not hold",
        ),
    ],
)
def test_bad_output_is_a_failed_try_with_a_reason(script, message):
    with pytest.raises(MeasurementError, match=message):
        command(script).propose(request("vectorized_access"))


def test_a_command_that_takes_too_long_is_ended_with_its_children():
    began = time.monotonic()
    with pytest.raises(MeasurementError, match=r"no answer within 0\.5 s"):
        command("import time; time.sleep(60)", timeout_s=0.5).propose(request("a"))
    assert time.monotonic() - began < 20


def test_commands_that_cannot_be_read_or_run():
    with pytest.raises(UsageError, match="cannot be read"):
        CommandProposer("'open")
    with pytest.raises(UsageError, match="empty"):
        CommandProposer("  ")
    with pytest.raises(MeasurementError, match="cannot be run"):
        CommandProposer("/nonexistent/proposer").propose(request("a"))


def test_both_schemas_hold_for_what_is_sent_and_read():
    import jsonschema

    found = schemas()
    sent = json.loads(msgspec.json.encode(request("vectorized_access")))
    jsonschema.validate(sent, found["request"])
    answer = Answer(candidates=(Candidate(text="x", methods=("a",)),))
    jsonschema.validate(json.loads(msgspec.json.encode(answer)), found["answer"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"candidates": [{"methods": []}]}, found["answer"])
