"""Arguments that are no UTF-8 are refused as wrong usage by every command; paths may hold any."""

from __future__ import annotations

import os

import click
import pytest

from kbs.context import _check_text
from kbs.failures import _save_log
from kbs.paths import AddressType
from kbs_engine.errors import UsageError
from tests.cli.test_empty_names import EVERY

BAD = os.fsdecode(b"\xff\xfe")
ADD = ("experience", "add", "--method", "split_k", "--verdict", "effective", "--kernel", "gemm",
       "--language", "triton", "--chip", "h100_sxm", "--correct", "--integrity")  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ("query", BAD),
        ("query", "fine", BAD),
        ("query", "fine", "--kind", BAD),
        ("specs", BAD),
        ("specs", "h100_sxm", BAD),
        ("recommend", "--text", BAD),
        ("recommend", "--metric", f"{BAD}=1"),
        ("experience", "recommend", "--chip", BAD),
        ("experience", "search", BAD),
        (*ADD, "--notes", BAD),
        (*ADD, "--dims", f"{BAD}=1"),
    ],
    ids=lambda words: " ".join(words).encode("ascii", "replace").decode(),
)
def test_no_command_takes_them(kbs_here, words):
    ran = kbs_here(*words, "--json")
    assert ran.code == 2
    assert ran.error["message"] == "argument is no valid UTF-8"
    assert ran.error["remedy"]


@pytest.mark.parametrize("words", [(BAD,), ("loop", BAD), ("experience", "list", "--kernel", BAD)])
def test_a_word_that_is_chosen_from_a_list_is_refused_as_any_other(kbs_here, words):
    ran = kbs_here(*words)
    assert ran.code == 2
    assert "bug in kbs" not in ran.err


TEXTS = [
    pytest.param(command, param, id=f"{name} {param.name}")
    for name, command in EVERY
    for param in command.params
    if not isinstance(param.type, click.Path | AddressType)
    and isinstance(param.type, click.types.StringParamType)
]


@pytest.mark.parametrize(("command", "param"), TEXTS)
def test_every_text_of_every_command_is_looked_at(command, param):
    value = (BAD,) if param.multiple or param.nargs != 1 else BAD
    with pytest.raises(UsageError, match="no valid UTF-8"):
        _check_text(command, {param.name: value})


def test_a_path_may_hold_any_bytes(kbs_here, tmp_path):
    ran = kbs_here("diagnose", tmp_path / BAD, "--json")
    assert "UTF-8" not in ran.error["message"]
    assert kbs_here("experience", "sync", tmp_path / BAD, at=tmp_path / "home").code == 0


def test_a_report_of_a_bug_holds_whatever_was_typed():
    path = _save_log(RuntimeError(BAD), ["--json", BAD])
    assert "\\udcff" in path.read_text(encoding="utf-8")
