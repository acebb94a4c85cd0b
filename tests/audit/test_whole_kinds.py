"""Whole kinds of wrong statements: basis, product names, units, age, and loops of links."""

from __future__ import annotations

import pytest

from kbs_engine.errors import UsageError
from kbs_ingest.audit import audit_paths
from kbs_ingest.audit.scan import scan_text

H100 = "gpu-wiki/hardware/nvidia/h100_sxm.md"


@pytest.fixture
def place(wiki):
    """Where a chip's page states a metric under some basis."""

    def find(chip, metric, density="dense", accumulate=None, scope=None):
        for spec in wiki.chips[chip].chip.specs:
            basis = spec.basis
            if (
                spec.metric == metric
                and basis.density in (None, density)
                and accumulate in (None, basis.accumulate)
                and (scope is None or basis.scope == scope)
            ):
                return str(spec.citation)
        raise AssertionError((chip, metric))

    return find


@pytest.fixture
def verdict(judge):
    def ask(text, suffix=".md"):
        return judge.judge(scan_text(text, suffix).citations[0])

    return ask


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("H100 SXM peak BF16: 1978.9 TFLOPS <- {}", "wrong_value"),
        ("H100 SXM peak BF16: 1979 TFLOPS <- {}", "wrong_value"),
        ("H100 SXM peak BF16 without sparsity: 1978.9 TFLOPS <- {}", "wrong_value"),
        ("H100 SXM peak BF16: 1978.9 TFLOPS <- {}; sparse INT8 doubles it", "wrong_value"),
        ("H100 SXM BF16: 1978.9 TFLOPS <- {}, sparse FP8: 3958 TOPS <- {}", "wrong_value"),
        ("| H100 SXM | peak BF16 | 1978.9 TFLOPS | <- {} |", "wrong_value"),
        ("H100 SXM peak BF16: 1978.9 TFLOPS <- {} (sparse)", "ok"),
        ("H100 SXM peak BF16: 1978.9 TFLOPS with sparsity <- {}", "ok"),
        ("H100 SXM peak BF16, 2:4: 1978.9 TFLOPS <- {}", "ok"),
        ("H100 SXM sparse BF16: 1979 TFLOPS <- {}", "ok"),
    ],
)
def test_a_sparse_row_carries_only_what_says_sparse(verdict, place, statement, expected):
    found = verdict(statement.replace("{}", place("h100_sxm", "peak_bf16_tensor", "sparse")))
    assert found.verdict == expected, found
    if expected == "wrong_value" and "without" not in statement:
        assert "sparse row; the statement does not say sparse" in found.detail


def test_a_sparse_value_is_never_reanchored_for_a_statement_that_does_not_say_so(
    knowledge, tmp_path
):
    path = tmp_path / "a.md"
    text = f"H100 SXM peak BF16: 1978.9 TFLOPS <- {H100}:L4999\n"
    path.write_text(text, encoding="utf-8")
    report = audit_paths([path], knowledge, fix=True)
    assert [row.verdict for row in report.citations] == ["wrong_value"]
    assert path.read_text(encoding="utf-8") == text


def test_the_accumulate_type_of_the_row_is_the_stated_one(verdict, place):
    half = place("rtx_4090", "peak_fp16_tensor", accumulate="fp16")
    full = place("rtx_4090", "peak_fp16_tensor", accumulate="fp32")
    name = "RTX 4090 FP16 tensor"
    assert verdict(f"{name}, fp32 accumulate: 330.3 TFLOPS <- {half}").verdict == "wrong_value"
    assert verdict(f"{name} (FP16 accumulation): 165.2 TFLOPS <- {full}").verdict == "wrong_value"
    assert verdict(f"{name}, fp16 accumulate: 330.3 TFLOPS <- {half}").verdict == "ok"
    assert verdict(f"{name} with FP32 accumulate: 165.2 TFLOPS <- {full}").verdict == "ok"


def test_a_row_per_die_carries_no_statement_on_the_board(verdict, place):
    die = place("mi250x", "memory_bandwidth", scope="die")
    board = place("mi250x", "memory_bandwidth", scope="chip")
    assert verdict(f"MI250X HBM2e bandwidth: 1638.4 GB/s <- {die}").verdict == "wrong_value"
    assert verdict(f"MI250X HBM2e bandwidth: 1638.4 GB/s <- {board}").verdict == "wrong_value"
    assert verdict(f"MI250X HBM2e bandwidth per GCD: 1638.4 GB/s <- {die}").verdict == "ok"
    assert verdict(f"MI250X HBM2e bandwidth: 1638.4 GB/s <- {die} (per die)").verdict == "ok"
    assert verdict(f"MI250X HBM2e bandwidth: 3276.8 GB/s <- {board}").verdict == "ok"


def test_the_direction_of_the_row_is_the_stated_one(verdict, place):
    link = place("h100_sxm", "interconnect_bandwidth")
    text = "H100 SXM NVLink bandwidth {}: 900 GB/s <- " + link
    assert verdict(text.format("per direction")).verdict == "wrong_value"
    assert verdict(text.format("in both directions")).verdict == "ok"


@pytest.mark.parametrize(
    ("name", "chip", "count"),
    [
        ("A10G", "a10", 72), ("RTX 4090 Laptop", "rtx_4090", 128), ("RTX 4090 D", "rtx_4090", 128),
        ("RTX 4090D", "rtx_4090", 128), ("RTX 4090 Max-Q", "rtx_4090", 128),
        ("RTX 4080", "rtx_4090", 128), ("V100S", "v100_pcie", 80), ("V100 S", "v100_pcie", 80),
        ("RTX 3060 Ti", "rtx_3060", 28), ("RTX 3060 Super", "rtx_3060", 28),
        ("RTX 3060 8GB", "rtx_3060", 28), ("L40", "l40s", 142), ("H20 NVL", "h20", 78),
        ("H200 NVL", "h200_sxm", 132), ("H20 141 GB", "h20", 78), ("L4 SXM", "l4", 58),
        ("RTX A5000", "rtx_a6000", 84), ("Quadro RTX 6000", "rtx_6000_ada", 142),
        ("MI300XHF", "mi300x", 304), ("RX 7900 XT", "rx_7900_xtx", 96),
    ],
)  # fmt: skip
def test_a_name_counts_whole(wiki, knowledge, tmp_path, place, name, chip, count):
    path = tmp_path / "a.md"
    where = place(chip, "unit_count").rsplit(":L", 1)[0]
    text = f"{name} SM count: {count} <- {where}:L999\n"
    path.write_text(text, encoding="utf-8")
    (row,) = audit_paths([path], knowledge, fix=True).citations
    assert row.verdict == "wrong_chip", row
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("name", "chip"),
    [
        ("H100s have SMs", "h100_sxm"), ("The H100 SXM's SMs", "h100_sxm"),
        ("H200 SXM SMs", "h200_sxm"), ("A100 80GB SXM4 SMs", "a100_sxm_80gb"),
        ("RTX 3060 12 GB SMs", "rtx_3060"), ("MI300X 192GB CUs", "mi300x"),
        ("RTX 6000 Ada SMs", "rtx_6000_ada"), ("V100 SMs", "v100_pcie"),
        ("RX 7900 XTX CUs", "rx_7900_xtx"), ("A10 PCIe SMs", "a10"), ("1x L40S SMs", "l40s"),
    ],
)  # fmt: skip
def test_what_a_part_is_called_is_no_other_product(wiki, verdict, place, name, chip):
    count = wiki.chips[chip].chip.find("unit_count").value
    assert verdict(f"{name}: {count:g} <- {place(chip, 'unit_count')}").verdict == "ok"


def test_pcie_before_a_word_of_the_bus_is_the_bus(verdict, place):
    bus = place("h200_sxm", "pcie_bandwidth")
    assert verdict(f"H200 PCIe bandwidth: 128 GB/s <- {bus}").verdict == "ok"


@pytest.mark.parametrize(
    "value",
    ["3.35e12 B/s", "3.35E+12 B/s", "3.35 × 10^12 B/s", "3.35·10¹² bytes/s", "3350000000 KB/s",
     "0.00335 PB/s"],
)  # fmt: skip
def test_one_value_in_any_notation(verdict, place, value):
    where = place("h100_sxm", "memory_bandwidth")
    assert verdict(f"H100 SXM HBM3 bandwidth: {value} <- {where}").verdict == "ok"


def test_a_value_rounded_to_three_digits_or_more_is_ok_and_says_so(verdict, place):
    where = place("h100_sxm", "peak_fp16_tensor")
    for value in ("989 TFLOPS", "0.989 PFLOPS", "9.89e14 FLOPS"):
        found = verdict(f"H100 SXM FP16 tensor: {value} <- {where}")
        assert (found.verdict, found.detail[:7]) == ("ok", "rounded"), found
    for value in ("990 TFLOPS", "988 TFLOPS", "0.99 PFLOPS", "989.3 TFLOPS"):
        assert verdict(f"H100 SXM FP16 tensor: {value} <- {where}").verdict != "ok"


def test_gb_for_gib_is_a_wrong_value_and_the_detail_says_so(verdict, place):
    where = place("mi300x", "memory_capacity")
    found = verdict(f"MI300X HBM3 capacity: 192 GB <- {where}")
    assert found.verdict == "wrong_value"
    assert "GB is not GiB: 192 GB is 178.8 GiB" in found.detail


def test_an_unknown_that_the_page_answers_by_now_fails_with_strict_alone(kbs, tmp_path):
    path = tmp_path / "old.md"
    path.write_text("H100 SXM TDP: UNKNOWN (gpu-wiki not found)\n", encoding="utf-8")
    ran = kbs("audit", path, "--json")
    (row,) = ran.json["citations"]
    assert (ran.code, row["verdict"]) == (0, "changed")
    assert "700 W" in row["detail"]
    assert kbs("audit", path, "--strict").code == 1
    path.write_text(
        "H100 SXM FP4 tensor: UNKNOWN (gpu-wiki not found)\n"
        "H100 bandwidth: UNKNOWN (gpu-wiki not found)\n"
        "H100 SXM L9 cache: UNKNOWN (gpu-wiki not found)\n",
        encoding="utf-8",
    )
    assert kbs("audit", path, "--strict").code == 0


def test_a_loop_of_links_is_called_one(knowledge, tmp_path):
    loop = tmp_path / "self"
    loop.symlink_to(loop)
    with pytest.raises(UsageError, match="loop of symbolic links"):
        audit_paths([loop], knowledge)
    dangling = tmp_path / "lost"
    dangling.symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"the link leads to .*nowhere"):
        audit_paths([dangling], knowledge)
    (note,) = audit_paths([tmp_path / "."], knowledge).notes[1:]
    assert "loop of symbolic links" in note
