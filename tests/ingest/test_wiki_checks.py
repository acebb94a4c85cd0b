# ruff: noqa: E501 - tables and messages stand on one line, as in the files that they test
"""The arithmetic of hardware pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from wiki_fixture import H100, MEASURED, write_wiki

from kbs_engine.errors import WikiError
from kbs_ingest.wiki import load_wiki

CHIP = "hardware/nvidia/h100_sxm.md"
UNITS = (
    "| `unit_count` SMs | 132 |  | per chip | [page] table (A) |\n"
    "| `tensor_ops_per_clock_bf16` BF16 tensor | {} | FLOP/clk/unit | dense; per unit | [page] t (A) |\n"
    "| `memory_type`"
)
EXCEPTION = """## Exceptions
| Check | Metric | Reason | Source |
|---|---|---|---|
| `{}` | `{}` | the vendor prints so | [page] table (A) |

## Sources"""


def test_a_page_whose_numbers_agree_passes(tmp_path: Path) -> None:
    page = H100.replace("| `memory_type`", UNITS.format(4096))
    assert load_wiki([write_wiki(tmp_path, {CHIP: page})]).chips["h100_sxm"]


@pytest.mark.parametrize(
    ("page", "check", "metric"),
    [
        (H100.replace("1978.9", "1400"), "dense_sparse_ratio", "peak_bf16_tensor"),
        (
            H100.replace("| `memory_type`", UNITS.format(2048)),
            "peak_arithmetic",
            "peak_bf16_tensor",
        ),
        (H100.replace("| 3.35 |", "| 2.9 |"), "measured_above_peak", "memory_bandwidth"),
    ],
)
def test_a_number_that_cannot_be_needs_an_exception(
    tmp_path: Path, page: str, check: str, metric: str
) -> None:
    with pytest.raises(WikiError, match=f"{check}: {metric}"):
        load_wiki([write_wiki(tmp_path / "a", {CHIP: page})])
    excused = page.replace("## Sources", EXCEPTION.format(check, metric))
    assert load_wiki([write_wiki(tmp_path / "b", {CHIP: excused})])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("`dense_sparse_ratio`", "`looks_fine`", "no check 'looks_fine'"),
        ("the vendor prints so", "", "no reason or no source"),
        ("so | [page] table (A)", "so | trust me", "no reason or no source"),
    ],
)
def test_an_exception_states_check_reason_and_source(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    section = EXCEPTION.format("dense_sparse_ratio", "peak_bf16_tensor").replace(old, new)
    page = H100.replace("## Sources", section)
    with pytest.raises(WikiError, match=message):
        load_wiki([write_wiki(tmp_path, {CHIP: page})])


def test_measured_rows_are_not_compared_with_each_other(tmp_path: Path) -> None:
    row = "| `peak_bf16_tensor` measured | 700 | TFLOPS | dense; fp32 accumulate; per chip | [run] r (D) |"
    page = MEASURED.replace("\n## Sources", row + "\n\n## Sources")
    assert load_wiki([write_wiki(tmp_path, {"measured/h100_sxm_host.md": page})])
