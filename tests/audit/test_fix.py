"""--fix writes the line numbers of moved citations, and not one byte more."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbs_ingest.audit import audit_paths
from kbs_ingest.audit.fix import reanchored
from tests.audit.planted import CONTAINERS

LINE_NUMBERS = re.compile(rb":L\d+")


def skeleton(data: bytes) -> bytes:
    return LINE_NUMBERS.sub(b":L", data)


@pytest.mark.parametrize("name", CONTAINERS)
def test_moved_lines_are_reanchored_and_everything_else_stays(name, rows, knowledge, tmp_path):
    path = tmp_path / name
    before = CONTAINERS[name](rows)[0].encode()
    path.write_bytes(before)
    path.chmod(0o640)
    report = audit_paths([path], knowledge, fix=True)
    after = path.read_bytes()
    assert skeleton(after) == skeleton(before)
    assert after.count(b"\r\n") == before.count(b"\r\n")
    assert path.stat().st_mode & 0o777 == 0o640
    assert {row.verdict for row in report.citations if row.fixed} == {"moved"}
    again = audit_paths([path], knowledge)
    assert not [row for row in again.citations if row.verdict == "moved"]
    kept = [row.verdict for row in report.citations if row.verdict != "moved"]
    assert [row.verdict for row in again.citations if row.verdict != "ok"] == [
        verdict for verdict in kept if verdict != "ok"
    ]


def test_only_moved_citations_are_written(rows, knowledge, tmp_path):
    text = "".join(f"- {row.text}\r\n" for row in rows if row.verdict != "moved")
    path = tmp_path / "report.md"
    path.write_bytes(text.encode())
    stamp = path.stat().st_mtime_ns
    audit_paths([path], knowledge, fix=True)
    assert path.read_bytes() == text.encode()
    assert path.stat().st_mtime_ns == stamp


def test_the_new_line_is_the_one_that_states_the_value(rows, knowledge, tmp_path):
    moved = [row for row in rows if row.verdict == "moved"]
    path = tmp_path / "report.md"
    path.write_text("".join(f"- {row.text}\n" for row in moved), encoding="utf-8")
    audit_paths([path], knowledge, fix=True)
    for line, row in zip(path.read_text(encoding="utf-8").splitlines(), moved, strict=True):
        assert line.endswith(row.fixed)


def test_a_link_to_a_report_stays_a_link(rows, knowledge, tmp_path):
    real = tmp_path / "real.md"
    real.write_text(next(row.text for row in rows if row.verdict == "moved"), encoding="utf-8")
    link = tmp_path / "link.md"
    link.symlink_to(real)
    audit_paths([link], knowledge, fix=True)
    assert link.is_symlink()
    assert audit_paths([real], knowledge).citations[0].verdict == "ok"


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    noise=st.lists(st.binary(max_size=40), min_size=1, max_size=8),
    order=st.randoms(use_true_random=False),
)
def test_whatever_stands_around_it_is_kept_byte_for_byte(noise, order, rows, knowledge, tmp_path):
    pieces = [part.replace(b"\0", b"") for part in noise]
    pieces += [order.choice(rows).text.encode() for _ in range(3)]
    order.shuffle(pieces)
    before = order.choice([b"\n", b"\r\n", b" "]).join(pieces)
    path = tmp_path / order.choice(["a.md", "a.json", "a.txt", "a.py", "a.cu"])
    path.write_bytes(before)
    audit_paths([path], knowledge, fix=True)
    assert skeleton(path.read_bytes()) == skeleton(before)


@given(
    st.text(max_size=200), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 9)), max_size=5)
)
def test_only_digits_are_replaced(text, wanted):
    edits = [((start, start + size), 7) for start, size in wanted]
    after = reanchored(text, edits)
    assert re.sub(r"\d", "", after) == re.sub(r"\d", "", "".join(c for c in text)) or any(
        char.isdecimal() and not char.isascii() for char in text
    )
