"""The road of the skill, walked once: its own command lines, in its order, over a recorded run.

Every command of its page on the loop is taken from the page as it is installed, with the names of
the recorded kernel in place of the page's. A command that is not walked here is named with why.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from kbs.cli import cli
from tests.loop.cases import CASES, KERNELS

AGENT = KERNELS / "agent_host"
FENCE = re.compile(r"^ *```bash\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
NOT_WALKED = {
    "kbs doctor": "tells of the machine",
    "kbs ingest": "the replay needs no index",
    "kbs check": "measures: tests/cli/test_check_bench.py",
    "kbs asm": "compiles: tests/backends",
    "kbs optimize": "measures; its proposer is the last test below",
    "kbs loop extend": "goes past what was recorded: test_orders.py",
}


def run(home: Path, words: list[str]) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["--home", str(home), *words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return 2, str(done.exception)
    return done.exit_code, done.output


def walked(line: str, kernel: Path, folder: Path) -> list[str] | None:
    """A line of the skill for the recorded run; None for one that is not walked."""
    if any(line.startswith(known) for known in NOT_WALKED):
        return None
    words = [str(folder / word) if re.fullmatch(r"run(/v\d)?", word) else word
             for word in shlex.split(line)[1:]]  # fmt: skip
    if words[:2] == ["loop", "init"]:
        case = CASES["agent"]
        assert {"--ref", "--proposer", "--output"} <= set(words), line
        return ["loop", "init", *case.arguments(f"recorded:{case.recording}", folder / "run")]
    if words[:2] == ["loop", "submit"]:
        words[3] = str(kernel)
        words[words.index("--method") + 1] = "single_pass_algorithm"
    return words


@pytest.fixture
def lines(tmp_path) -> list[str]:
    """Command lines of the installed page, in its order."""
    assert (
        run(tmp_path / "home", ["skill", "install", "--target", str(tmp_path / "skills")])[0] == 0
    )
    page = (tmp_path / "skills/kbs/SKILL.md").read_text()
    return [line.strip() for block in FENCE.findall(page) for line in block.splitlines()]


def test_every_command_of_the_page_in_its_order(tmp_path, lines):
    home = tmp_path / "home"
    done: list[str] = []
    for line in lines:
        words = walked(line, AGENT / "submitted.py", tmp_path)
        if words is None:
            continue
        code, out = run(home, words)
        over = words[0] == "gate" and "--final" not in words
        assert code == (1 if over else 0), f"{line}: {out}"
        done.append(" ".join(words[:2]))
        if words[:2] == ["loop", "next"]:
            assert "v1 waits for a kernel" in out
            walk_a_wrong_try(home, tmp_path)
    road = ["init", "next", "submit", "close", "status", "finalize"]
    assert [word for word in done if word in {f"loop {one}" for one in road}] == [
        f"loop {one}" for one in road
    ]
    assert {"gate " + str(tmp_path / "run/v1"), "report " + str(tmp_path / "run")} <= set(done)
    for name in ("benchmark.md", "final_report.md", "summary.md", "report.html"):
        assert (tmp_path / "run" / name).is_file()


def walk_a_wrong_try(home: Path, folder: Path) -> None:
    """`close` and `status` say why, and the request holds it for whoever writes the next."""
    root = str(folder / "run")
    wrong = str(AGENT / "wrong.py")
    assert run(home, ["loop", "submit", root, wrong, "--method", "single_pass_algorithm"])[0] == 0
    for verb in ("close", "status"):
        code, out = run(home, ["loop", verb, root])
        assert code == 0
        assert "(try 2)" in out
        assert "b0: wrong_result" in out
    request = json.loads((folder / "run/v0/request.json").read_text())
    assert request["feedback"][0]["reason"] == "wrong_result"


def test_memory_and_restart_of_a_run_that_waits(tmp_path):
    home, root = tmp_path / "home", str(tmp_path / "run")
    case = CASES["agent"]
    run(home, ["loop", "init", *case.arguments(f"recorded:{case.recording}", Path(root))])
    code, out = run(home, ["loop", "status", root])
    assert code == 0
    assert "`kbs loop next" in out
    run(home, ["loop", "next", root])
    for words, says in (
        (["loop", "restart", root, "--mask", "half"], "masked nothing"),
        (["memory", "summary", root], "v0"),
        (["loop", "next", root], "v1 waits for a kernel (try 1)"),
        (["loop", "resume", root], "v1 waits for a kernel (try 1)"),
    ):
        code, out = run(home, words)
        assert code == 0, out
        assert says in out


def test_a_program_written_from_the_schemas_is_a_proposer(tmp_path):
    """It reads what the request's schema promises and prints what the answer's asks for."""
    from kbs.proposers.command import CommandProposer
    from kbs_engine.proposals import Request

    home, root = tmp_path / "home", tmp_path / "run"
    schemas = {
        one: json.loads(run(home, ["loop", "schema", one])[1]) for one in ("request", "answer")
    }
    given = set(schemas["request"]["$defs"]["Request"]["properties"])
    printed = set(schemas["answer"]["$defs"]["Candidate"]["properties"])
    assert {"file", "source", "attempt"} <= given
    assert {"text", "methods", "note"} <= printed
    writer = tmp_path / "writer.py"
    writer.write_text(
        "import json, sys\n"
        "request = json.load(sys.stdin)\n"
        'method = request["file"]["plan"]["methods"][0]["method"]\n'
        'text = "# " + method + "\\n" + request["source"]\n'
        'print(json.dumps({"candidates": [{"text": text, "methods": [method], "note": "n"}]}))\n'
    )
    case = CASES["agent"]
    run(home, ["loop", "init", *case.arguments(f"recorded:{case.recording}", root)])
    run(home, ["loop", "next", str(root)])
    plain = json.loads((root / "v0/request.json").read_text())
    request = msgspec.convert({"file": plain, "source": (AGENT / "kernel.py").read_text()}, Request)
    (candidate,) = CommandProposer(f"{sys.executable} {writer}").propose(request)
    assert candidate.methods == (plain["plan"]["methods"][0]["method"],)
    assert candidate.text.endswith(request.source)
