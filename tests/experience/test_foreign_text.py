"""Records of strangers: what has no possible form never counts, and no code of theirs is obeyed."""

from __future__ import annotations

import io
import json
import sys
import unicodedata
from datetime import timedelta

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from kbs.cli import cli
from kbs.render.experience import percent
from kbs.terminal import Escaping, escaped, make_console
from kbs_engine.days import today
from kbs_engine.errors import InputError, UsageError
from kbs_engine.experience.form import malformed
from tests.experience.records import outcome
from tests.thinned import thinned

EVIL = "\x1b[31mred\x1b[2J\x07"
BASE = {
    "kind": "outcome", "verdict": "ineffective", "kernel": "gemm", "language": "triton",
    "chip": "h100_sxm", "arch": "sm_90a", "correct": True, "integrity": True,
}  # fmt: skip
HIDING = "\u202e\u2066\u200b\u200d\u2060\ufeff\u00ad\u2028\U000e0041"
"""Characters that turn text, or are not seen in it."""
NO_DAYS = (
    "garbage", "29.11.2026", "-1", "2026/13/45", "10000-01-01", "9000-01-01", "20260131",
    "2026-W05-1", "2026-01-31 or so",
)  # fmt: skip

STRANGE = [
    ({"method": EVIL}, "is no id of a method"),
    ({"method": "\x00" * 5}, "is no id of a method"),
    ({"method": "../../etc"}, "is no id of a method"),
    ({"method": "split_k", "together_with": [EVIL]}, "is no id of a method"),
    ({"method": "split_k", "machine": "\n\nkbs: all is well"}, "machine"),
    ({"method": "split_k", "chip": EVIL}, "chip"),
    *(({"method": "split_k", "machine": f"m{char}1"}, "not seen") for char in HIDING),
    ({"method": "split_k", "chip": "A" * 5000}, "of 5000 characters"),
    ({"method": "split_k", "version": "../v1"}, "version"),
    ({"method": "split_k", "date": "9999-99-99"}, "is no date"),
    ({"method": "split_k", "date": "0000-01-01"}, "is no date"),
    ({"method": "split_k", "date": "2026-02-30T10:00:00Z"}, "is no date"),
    ({"method": "split_k", "date": EVIL}, "date"),
    *(({"method": "split_k", "date": day}, "is no date") for day in NO_DAYS),
    ({"method": "split_k", "gain_low": 0.3, "gain_high": 0.1}, "is reversed"),
    ({"method": "split_k", "predicted_gain": [0.3, 0.1]}, "is reversed"),
    ({"method": "split_k", "gain": -1e300}, "cannot be"),
    ({"method": "split_k", "gain_low": -1e300, "gain_high": 0.1}, "cannot be"),
    ({"method": "split_k", "predicted_gain": [0.1, 1e300]}, "cannot be"),
]


@pytest.fixture(scope="module")
def merged(tmp_path_factory, kbs_here):
    folder = tmp_path_factory.mktemp("foreign")
    log = folder / "log.jsonl"
    log.write_text("".join(json.dumps({**BASE, **row}) + "\n" for row, _ in STRANGE))
    return folder / "home", log, kbs_here("--json", "experience", "merge", log, at=folder / "home")


@pytest.mark.parametrize("place", range(len(STRANGE)))
def test_each_is_quarantined_with_its_reason(merged, place):
    _, _, ran = merged
    assert ran.code == 0, ran.err
    reasons = {row["line"]: row["reason"] for row in ran.json["quarantined"]}
    assert STRANGE[place][1] in reasons[place + 1]


@pytest.mark.sweep
def test_nothing_of_them_counts_and_no_code_reaches_the_terminal(merged, kbs, kbs_here):
    home, log, _ = merged
    assert kbs_here("--json", "experience", "list", at=home).json["outcomes"] == []
    for words in (
        ("merge", log), ("list", "--all"), ("stats",), ("search", "split_k", "--all"),
        ("mask", EVIL, "--reason", "r"), ("merge", f"{log}{EVIL.replace(chr(0), '')}"),
    ):  # fmt: skip
        ran = kbs_here("experience", *words, at=home)
        printed = ran.out + ran.err
        assert printed
        assert escaped(printed) == printed, words
        assert max(map(len, printed.splitlines())) < 1000 or words[0] == "merge"
    told = kbs("experience", "list", "--all", at=home).out
    assert "\\u001b[31mred" in told
    assert escaped(told) == told


@pytest.mark.parametrize("day", [*NO_DAYS, ""])
def test_what_is_no_day_that_has_come_is_refused_wherever_a_day_is_told(tmp_path, day):
    for words in (("list",), ("search", "x"), ("export", "-")):
        ran = CliRunner().invoke(
            cli, ["--home", str(tmp_path), "experience", *words, f"--since={day}"]
        )
        assert ran.exit_code == 2, (words, ran.output)
        assert "is no date" in ran.output
    ran = CliRunner().invoke(
        cli,
        ["--home", str(tmp_path), "experience", "add", "--method", "split_k", "--kernel", "gemm",
         "--language", "triton", "--chip", "h100_sxm", "--verdict", "ineffective", "--correct",
         "--integrity", f"--date={day}"],
    )  # fmt: skip
    assert ran.exit_code == 2, ran.output
    assert "is no date" in ran.output
    assert not list(tmp_path.rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("told", "taken"),
    thinned(
        [
            (("--speedup", "1.5", "--gain", "0.9"), None),
            (("--before-ns", "100", "--after-ns", "50", "--gain", "0.1"), None),
            (("--before-ns", "100", "--after-ns", "50", "--speedup", "4"), None),
            (("--speedup", "1.25", "--gain", "0.2"), 0.2),
            (("--before-ns", "3000", "--after-ns", "2000", "--speedup", "1.5"), 1 / 3),
            (("--before-ns", "3000", "--after-ns", "2000", "--gain", "0.33"), 0.33),
        ],
        2,
    ),
)
def test_what_is_told_twice_must_not_contradict(tmp_path, told, taken):
    words = ["--home", str(tmp_path), "--json", "experience", "add", "--method", "split_k",
             "--kernel", "gemm", "--language", "triton", "--chip", "h100_sxm", "--verdict",
             "effective", "--correct", "--integrity", *told]  # fmt: skip
    ran = CliRunner().invoke(cli, words)
    if taken is None:
        assert isinstance(ran.exception, UsageError), ran.output
        assert "contradict" in ran.exception.message
        assert not list(tmp_path.rglob("*.jsonl"))
    else:
        assert ran.exit_code == 0, ran.output
        (log,) = tmp_path.rglob("*.jsonl")
        assert json.loads(log.read_text())["record"]["gain"] == pytest.approx(taken)


def test_tomorrow_is_a_day_somewhere_and_the_day_after_is_not():
    assert malformed(outcome(date=(today() + timedelta(days=1)).isoformat())) is None
    assert malformed(outcome(date=(today() + timedelta(days=2)).isoformat())) is not None


@pytest.mark.parametrize(
    "options",
    [
        ("--gain", "0.2", "--gain-low", "0.5", "--gain-high", "0.1"),
        ("--gain=-1e300",), ("--machine", EVIL), ("--predicted-gain", "0.5", "0.1"),
    ],
)  # fmt: skip
def test_nobody_adds_such_a_record(tmp_path, options):
    words = ["--home", str(tmp_path), "experience", "add", "--method", "split_k", "--kernel",
             "gemm", "--language", "triton", "--chip", "h100_sxm", "--verdict", "ineffective",
             "--correct", "--integrity"]  # fmt: skip
    ran = CliRunner().invoke(cli, [*words, *options])
    assert isinstance(ran.exception, UsageError), ran.output
    assert "no outcome" in ran.exception.message
    record = tmp_path / "record.json"
    record.write_text(json.dumps({**BASE, "method": "split_k", "date": "9999-99-99"}))
    ran = CliRunner().invoke(cli, ["--home", str(tmp_path), "experience", "add", str(record)])
    assert isinstance(ran.exception, InputError), ran.output
    assert not list(tmp_path.rglob("*.jsonl"))


def test_json_stays_json(merged, kbs_here):
    home, _, _ = merged
    rows = kbs_here("--json", "experience", "list", "--all", at=home).json["outcomes"]
    assert EVIL in {row["method"] for row in rows}


@pytest.mark.parametrize(
    "content", [b'{"entries": {"a": 1}}', b"\xff\xfe\x00", b"hello", b"\x00" * 100, b"[1, 2]\n"]
)
def test_a_file_that_is_no_log_is_told(tmp_path, kbs_here, content):
    path = tmp_path / "junk.jsonl"
    path.write_bytes(content)
    ran = kbs_here("--json", "experience", "merge", path, at=tmp_path / "home")
    assert ran.code == 2
    assert ran.json["added"] == 0
    assert ran.json["rejected"]
    assert ran.json["rejected"][0]["reason"]


def test_an_empty_file_and_a_file_known_already_are_no_fault(tmp_path, kbs_here):
    empty, log = tmp_path / "empty.jsonl", tmp_path / "log.jsonl"
    empty.write_bytes(b"\n")
    log.write_text(json.dumps({**BASE, "method": "split_k"}) + "\nno record\n")
    for path in (empty, log, log):
        assert kbs_here("experience", "merge", path, at=tmp_path / "home").code == 0


def test_no_character_that_is_obeyed_or_hidden_is_let_pass():
    """Of all that Unicode calls control or format, but the signs that are seen."""
    seen = {*"\t\n", *map(chr, (0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD))}
    seen |= {*map(chr, range(0x600, 0x606)), *map(chr, range(0x13430, 0x13456))}
    for char in map(chr, range(sys.maxunicode + 1)):
        if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") and char not in seen:
            assert escaped(f"{char}x") != f"{char}x", hex(ord(char))


@given(st.text() | st.text(alphabet=HIDING))
def test_what_is_written_is_escaped_once_and_json_means_the_same(text):
    below = io.StringIO()
    Escaping(below).write(text)
    assert below.getvalue() == escaped(text)
    assert escaped(escaped(text)) == escaped(text)
    written = json.dumps({"text": text}, ensure_ascii=False)
    assert json.loads(escaped(written)) == {"text": text}


def test_a_console_keeps_its_own_styles(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    below = io.StringIO()
    console = make_console(force_terminal=True, color_system="standard", width=80)
    console.file = below
    console.print(EVIL, style="bold", markup=False)
    shown = below.getvalue()
    assert shown.startswith("\x1b[1m")
    assert "\\u001b[31mred\\u001b[2J" in shown
    assert shown.count("\x1b") == 2


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_share_takes_few_characters(share):
    assert len(percent(share)) <= 14


@pytest.mark.parametrize(
    "changes",
    [
        {}, {"date": "2026-02-28"}, {"date": "2024-02-29T10:00:00+00:00"}, {"date": ""},
        {"machine": "GPU-1b2c ü 東京 🖥️"}, {"gain": -999.0, "before_ns": None}, {"version": "v12"},
        {"gain_low": 0.1, "gain_high": 0.1},
    ],
)  # fmt: skip
def test_honest_forms_are_left_alone(changes):
    assert malformed(outcome(**changes)) is None
