"""Lines from instructions, and which of them are guilty of what."""

from __future__ import annotations

import pytest

from kbs_engine.sourceview import Instruction, SourceView, guilty, opcode, quantity_of, source_lines


def at(address, sass="FADD R1, R2, R3", line=1, file="k.cu", **values):
    return Instruction(address=address, sass=sass, file=file, line=line if file else None,
                       values=values)  # fmt: skip


VIEW = SourceView(
    instructions=(
        at(16, "LDG.E R1, [R2.64]", 10, samples=10.0, global_excess_sectors=300.0),
        at(32, "@!P0 STG.E.128 [R2.64], R4", 11, samples=5.0, global_excess_sectors=600.0),
        at(48, "FADD R1, R2, R3", 11, **{"samples": 80.0, "stall:long_scoreboard": 70.0}),
        at(64, "LDS R1, [R2]", 12, samples=5.0, shared_excess_wavefronts=9.0),
    ),
    totals={
        "samples": 100.0, "global_excess_sectors": 900.0, "shared_excess_wavefronts": 10.0,
        "stall:long_scoreboard": 70.0,
    },
    texts={"k.cu": {11: "out[i] = a + b;"}},
)  # fmt: skip


def test_instructions_of_one_line_add_up():
    lines = {line.line: line for line in source_lines(VIEW)}
    assert lines[11].values["samples"] == 85.0
    assert lines[11].shares["samples"] == pytest.approx(0.85)
    assert lines[11].text == "out[i] = a + b;"
    assert [one.address for one in lines[11].instructions] == [48, 32]


def test_the_worst_line_comes_first():
    assert [line.line for line in source_lines(VIEW)] == [12, 11, 10]


def test_loads_and_stores_are_told_apart():
    rows = guilty(VIEW, ["uncoalesced_global_load", "uncoalesced_global_store"])
    assert [(row.cause, row.line.line) for row in rows] == [
        ("uncoalesced_global_load", 10), ("uncoalesced_global_store", 11),
    ]  # fmt: skip
    assert rows[0].share == pytest.approx(1 / 3)


def test_stalls_and_conflicts_find_their_lines():
    rows = guilty(VIEW, ["long_scoreboard_stall", "shared_bank_conflicts", "small_grid"])
    assert [(row.line.line, row.quantity) for row in rows] == [
        (11, "stall:long_scoreboard"), (12, "shared_excess_wavefronts"),
    ]  # fmt: skip


def test_a_trickle_is_nobodys_guilt():
    few = SourceView(
        instructions=tuple(at(n * 16, "LDS R1, [R2]", n, shared_excess_wavefronts=1.0)
                           for n in range(1, 101)),
        totals={"shared_wavefronts": 500.0, "shared_excess_wavefronts": 100.0},
    )  # fmt: skip
    assert guilty(few, ["shared_bank_conflicts"]) == ()


def test_without_lines_each_instruction_stands_alone():
    view = SourceView(
        instructions=(at(16, file=None, samples=1.0), at(32, file=None, samples=2.0)),
        totals={"samples": 3.0},
    )
    assert [line.instructions[0].address for line in source_lines(view)] == [32, 16]
    assert all(line.file is None for line in source_lines(view))


def test_executed_instructions_alone_are_no_source_counters():
    assert not SourceView().collected
    assert not SourceView(totals={"executed": 5.0}).collected
    assert SourceView(totals={"samples": 5.0}).collected


def test_names_of_causes_and_opcodes():
    assert quantity_of("no_instruction_stall") == "stall:no_instructions"
    assert quantity_of("small_grid") is None
    assert opcode("@!UP0 LDG.E.128.CONSTANT R2, [R4]") == "LDG"
    assert opcode("EXIT ;") == "EXIT"
    assert opcode("") == ""
