"""Rule SQL: what is allowed, and what evaluation says."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs_engine.ports import Rows
from kbs_engine.symptoms import RuleResult
from kbs_ingest.rules.columns import CALL, HARDWARE, METRICS, WORK, Columns
from kbs_ingest.rules.evaluate import LITERAL_ROWS, Condition, RuleSet
from kbs_ingest.rules.sql import FUNCTIONS, Parser, RefusalError

ROOT = Path(__file__).resolve().parents[2]
PARSER = Parser()

ALLOWED = [
    "p.x < 70 AND p.y > 4.5 OR NOT (w.flops IS NULL)",
    "CASE WHEN p.a BETWEEN 1 AND 2 THEN 1 ELSE greatest(p.b, 0) END",
    "CASE p.a WHEN 1 THEN 2 END",
    "w.dtype IN ('fp16', 'bf16') AND w.kernel NOT IN ('gemm')",
    "coalesce(p.a, 0) + nullif(p.b, 0) - ceil(p.c) * floor(h.gap) / round(c.time_share, 2)",
    "abs(p.a) + least(p.a, 1) + sqrt(p.a) + ln(p.a) + log2(p.a) + exp(p.a) + power(p.a, 2)",
    "-p.a % 2 <> 1 AND p.b IS NOT NULL AND p.c NOT BETWEEN 1 AND 3 AND true",
    "w.dtype = 'a;b--c'",
]
REFUSED = [
    "(SELECT 1)", "EXISTS (SELECT 1)", "p.x IN (SELECT 1)", "p.x IN (1, (SELECT 2))",
    "read_csv('/etc/passwd')", "read_text('/etc/passwd')", "getenv('HOME')",
    "current_setting('home_directory')", "COPY t TO 'x'", "1; DROP TABLE x", "p.a -- x",
    "p.a /* x */", "1) FROM read_csv('x') WHERE (1", "1 FROM t", "1 AS y", "1 UNION SELECT 2",
    "p.x::INTEGER", "CAST(p.x AS INTEGER)", "TRY(p.x)", "sum(p.x)", "sum(p.x) OVER ()",
    "ln(p.x) FILTER (WHERE true)", "main.ln(p.x)", "*", "p.*", "COLUMNS('x')", "$1", "?",
    "x -> y", "[1, 2]", "{'a': 1}", "(1, 2)", "INTERVAL 1 DAY", "DATE '2020-01-01'", "x'41'",
    "x", "q.x", "p.s.x", "P.x", "p", "", "p.a IS DISTINCT FROM 3", "'a' LIKE 'b'", "p.a ^ 2",
    "p.a // 2", "p.a ** 2", "p.a & 1", "@p.a", "if(true, 1, 2)", "random()", "now()",
    "power(x := 2)", "-" * 3000 + "1", "p.a + " * 1000 + "1", "\x00", "1,",
    "SET threads = 1", "PRAGMA version", "ATTACH 'x'", "LOAD httpfs", "INSTALL httpfs",
]  # fmt: skip


@pytest.mark.parametrize("expression", ALLOWED)
def test_allowed(expression: str) -> None:
    columns = PARSER.columns(expression)
    assert columns == frozenset(re.findall(r"\b[pcwh]\.\w+", expression))


@pytest.mark.parametrize("expression", REFUSED)
def test_refused(expression: str) -> None:
    with pytest.raises(RefusalError):
        PARSER.columns(expression)


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        columns = PARSER.columns(text)
    except RefusalError:
        return
    assert all(name[:2] in ("p.", "c.", "w.", "h.") for name in columns)


def test_the_connection_reaches_no_file_and_no_setting() -> None:
    import duckdb

    connection = PARSER.connection
    for query in (
        "SELECT * FROM read_text('/etc/hostname')",
        "COPY (SELECT 1) TO '/tmp/x.csv'",
        "ATTACH '/tmp/x.db'",
        "SET enable_external_access = true",
        "INSTALL httpfs",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(query)


def test_columns_are_those_of_the_documents() -> None:
    vocabulary = (ROOT / "docs/vocabulary.md").read_text()
    part = vocabulary[vocabulary.index("## Canonical metrics") : vocabulary.index("## Symptoms")]
    named = set(re.findall(r"`([a-z0-9_]+)`", part))
    stalls = {name.removeprefix("stall_") for name in METRICS if name.startswith("stall_")}
    assert {name for name in named if name not in stalls} - {"_pct", "nan"} == {
        name for name in METRICS if not name.startswith("stall_")
    }
    assert stalls <= named
    table = (ROOT / "docs/wiki-format.md").read_text()
    for row, names in (("c", CALL), ("w", WORK), ("h", HARDWARE)):
        line = next(part for part in table.splitlines() if part.startswith(f"| `{row}` |"))
        assert set(re.findall(r"`([a-z0-9_]+)`", line)) - {row} == names
    listed = re.search(r"the functions ([a-z0-9, ]+)\.", table)
    assert listed is not None
    assert set(listed[1].replace(" and", "").split(", ")) == FUNCTIONS


def _rows(**columns: float | str | None) -> Rows:
    parts: dict[str, dict[str, float | str | None]] = {"p": {}, "c": {}, "w": {}, "h": {}}
    for name, value in columns.items():
        parts[name[0]][name[2:]] = value
    return Rows(**parts)  # type: ignore[arg-type]


def _one(condition: Condition, **columns: float | str | None) -> RuleResult:
    return RuleSet([condition]).evaluate([_rows(**columns)])[0][0]


RULE = Condition(
    id="r",
    needs=("p.dram_pct", "w.dtype"),
    optional=("h.gap",),
    when="p.dram_pct > 60 AND w.dtype = 'fp16'",
    severity="p.dram_pct / 50",
    recoverable="coalesce(h.gap, 0.25)",
)


def test_missing_needs_are_not_measurable_and_named() -> None:
    assert _one(RULE) == RuleResult(id="r", fired=None, missing=("p.dram_pct", "w.dtype"))
    assert _one(RULE, p_dram_pct=90.0).missing == ("w.dtype",)
    assert _one(RULE, p_dram_pct=float("nan"), w_dtype="fp16").missing == ("p.dram_pct",)


def test_not_fired_has_no_numbers() -> None:
    assert _one(RULE, p_dram_pct=10.0, w_dtype="fp16") == RuleResult(id="r", fired=False)


def test_fired_is_clamped_to_shares() -> None:
    found = _one(RULE, p_dram_pct=90.0, w_dtype="fp16")
    assert (found.fired, found.severity, found.recoverable) == (True, 1.0, 0.25)
    assert _one(RULE, p_dram_pct=90.0, w_dtype="fp16", h_gap=-3.0).recoverable == 0.0


@pytest.mark.parametrize(
    ("when", "value"),
    [
        ("p.l1_pct / p.l2_pct > 1", 0.0),  # x / 0 is NULL, not infinity
        ("p.l2_pct / p.l2_pct > 1", 0.0),  # NaN would be above every threshold
        ("ln(p.l2_pct) > -5 OR ln(p.l2_pct) <= -5", 0.0),
        ("sqrt(p.l2_pct) >= 0", -1.0),
        ("NULL > 1", 1.0),
        ("p.dram_pct > 1", 1.0),  # optional and absent
    ],
)
def test_what_cannot_be_computed_does_not_fire(when: str, value: float) -> None:
    rule = Condition(id="r", needs=("p.l2_pct",), optional=("p.l1_pct", "p.dram_pct"), when=when)
    assert _one(rule, p_l2_pct=value, p_l1_pct=5.0).fired is False


def test_a_severity_that_cannot_be_computed_is_zero() -> None:
    rule = Condition(
        id="r",
        needs=("p.l2_pct",),
        when="true",
        severity="1 / p.l2_pct",
        recoverable="ln(p.l2_pct)",
    )
    found = _one(rule, p_l2_pct=0.0)
    assert (found.fired, found.severity, found.recoverable) == (True, 0.0, 0.0)


def test_numbers_belong_to_their_rule() -> None:
    rules = [
        Condition(id=f"r{n}", needs=("p.dram_pct",), when=f"p.dram_pct >= {n * 10}",
                  severity=f"{n} / 10.0", recoverable=f"{n} / 20.0")
        for n in range(10)
    ]  # fmt: skip
    found = RuleSet(rules).evaluate([_rows(p_dram_pct=45.0), _rows(), _rows(p_dram_pct=99.0)])
    assert [r.severity for r in found[0] if r.fired] == [0.0, 0.1, 0.2, 0.3, 0.4]
    assert all(r.fired is None for r in found[1])
    assert [r.recoverable for r in found[2]] == [n / 20 for n in range(10)]


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.floats(allow_subnormal=False)),
            st.one_of(st.none(), st.sampled_from(["fp16", "fp32"])),
        ),
        min_size=LITERAL_ROWS + 1,
        max_size=LITERAL_ROWS + 5,
    )
)
@settings(max_examples=10, deadline=None)
def test_many_rows_answer_as_one_by_one(values: list[tuple[float | None, str | None]]) -> None:
    rows = [
        Rows(p={} if number is None else {"dram_pct": number}, c={}, w={"dtype": word}, h={})
        for number, word in values
    ]
    rules = RuleSet(
        [RULE, Condition(id="s", needs=(), when="p.dram_pct > 0", optional=("p.dram_pct",))]
    )
    assert rules.evaluate(rows) == [rules.evaluate([row])[0] for row in rows]


def test_no_rules_and_no_rows() -> None:
    assert RuleSet([]).evaluate([_rows()]) == [[]]
    assert RuleSet([RULE]).evaluate([]) == []
    assert RuleSet([RULE]).holds([_rows(p_dram_pct=90.0, w_dtype="fp16")]) == [frozenset({"r"})]


def test_unknown_columns() -> None:
    columns = Columns(["new_pct"])
    assert columns.known("p.new_pct")
    assert columns.known("p.opcode_ffma")
    assert not columns.known("w.new_pct")
    assert not columns.known("p.nothing")


@pytest.mark.parametrize("thousands", [10, pytest.param(100, marks=pytest.mark.sweep)])
def test_a_hundred_thousand_rows_in_ten_seconds(thousands: int) -> None:
    names = sorted(METRICS)[:40]
    rules = RuleSet(
        [
            Condition(id=f"r{n}", needs=(f"p.{names[n % 40]}",), optional=("h.gap",),
                      when=f"p.{names[n % 40]} > {n + 30}", severity=f"p.{names[n % 40]} / 100",
                      recoverable="coalesce(h.gap, 0.5) * 0.5")
            for n in range(60)
        ]
    )  # fmt: skip
    rows = [
        Rows(p={m: float((k * 7 + i * 13) % 101) for i, m in enumerate(names)}, c={}, w={}, h={})
        for k in range(1000)
    ] * thousands
    started = time.process_time()  # what else runs on the machine says nothing about kbs
    found = rules.evaluate(rows)
    assert time.process_time() - started < thousands / 5  # half of it on an idle machine
    assert len(found) == thousands * 1000
    assert found[0] == found[1000]


def test_one_row_needs_no_array_library() -> None:
    code = (
        "import sys; from kbs_engine.ports import Rows; "
        "from kbs_ingest.rules.evaluate import *; "
        "print(RuleSet([Condition(id='r', needs=('p.x',), when='p.x > 1')])"
        ".evaluate([Rows(p={'x': 2.0}, c={}, w={}, h={})])[0][0].fired, "
        "[m for m in ('numpy', 'pandas', 'pyarrow', 'lancedb', 'torch') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": f"{ROOT / 'ingest'}:{ROOT / 'engine'}"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "True []"
