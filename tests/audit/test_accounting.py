"""What a statement says is explained by the row that it cites, or it does not pass."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs_ingest.audit import audit_paths
from kbs_ingest.audit.scan import scan_text

PARTS = [
    "Gaudi 3", "Gaudi3", "Gaudi", "TPU v5p", "Trainium2", "Ascend 910B", "Ponte Vecchio",
    "Intel Max 1550", "Cerebras WSE-3", "Groq LPU", "Apple M3 Max", "P100", "R100 Rubin",
    "Blackwell", "Ampere", "CDNA3", "CDNA 3", "gfx942", "AMD", "sm_80", "XYZ900", "T4", "K80",
    "MI300X",
]  # fmt: skip
BOTH = ["Blackwell H100", "AMD H100", "Rubin H100 SXM", "H100 CNX", "MI300X and H100 SXM"]
LABELS = [
    "HBM2e bandwidth", "HBM3e bandwidth", "GDDR7 bandwidth", "LPDDR5X bandwidth", "DDR5 bandwidth",
    "8x H100 SXM HBM3 bandwidth", "8×H100 SXM", "8x H100 SXM: HBM3 bandwidth",
    "8x H100 SXM, HBM3 bandwidth", "HBM3 bandwidth of two H100 SXM", "HBM3 bandwidth of eight GPUs",
    "HBM3 bandwidth for a node of 8", "Aggregate HBM3 bandwidth", "HBM3 bandwidth across GPUs",
    "DGX H100 HBM3 bandwidth", "HGX node total HBM3 bandwidth", "HBM3 bandwidth per GPU pair",
    "HBM3 bandwidth of a MIG slice", "HBM3 bandwidth (achieved)", "HBM3 bandwidth, achieved",
    "achieved HBM3 bandwidth", "sustained HBM3 bandwidth", "read bandwidth", "write bandwidth",
    "copy bandwidth", "HBM3 read bandwidth", "HBM3 bandwidth under load",
    "It is a myth that HBM3 bandwidth", "We measured HBM3 bandwidth",
]  # fmt: skip
VALUES = [
    "between 2 and 3.35 TB/s", "from 2.0 TB/s up to 3.35 TB/s", "3.35 TB/s vs 2.0 TB/s",
    "3.35 TB/s, later 4.8 TB/s", "up to 3.35 TB/s or half that", "at most 3.35 TB/s",
    "3.35 TB/s (disproved)", "3.35 TB/s (deprecated)", "3.35 TB/s for a node of 8",
    "3.35 TB/s aggregate", "3.35 TB/s measured", "3.35 TB/s per GPU pair",
    "3.35 TB/s of a MIG slice", "3.35 TB/s for DGX H100", "2.0/3.35 TB/s", "3.35 TB/s (8 GPUs)",
    "3.35 TB/s (8x)", "3.35 TB/s at 350 W", "3.35 TB/s (Ascend 910B)",
]  # fmt: skip
HONEST = [
    "Hopper HBM3 bandwidth: 3.35 TB/s <- {}",
    "NVIDIA H100 (sm_90a) memory bandwidth: 3.35 TB/s <- {}",
    "The 700 W H100 SXM has an HBM3 bandwidth of 3.35 TB/s <- {}",
    "The kernel is limited by DRAM bandwidth, 3.35 TB/s <- {}",
    "The kernel is not compute bound, so the roof is the HBM3 bandwidth: 3.35 TB/s <- {}",
    "We measured 2.9 TB/s, 86 % of the roof. HBM3 bandwidth: 3.35 TB/s <- {}",
    "Unlike the H200, the H100 SXM has HBM3 bandwidth: 3.35 TB/s <- {}",
    "| 3 | HBM3 bandwidth | 3.35 TB/s | <- {} |", "Step 3: HBM3 bandwidth: 3.35 TB/s <- {}",
    "| metric | H100 SXM | source |\n|---|---|---|\n| HBM bandwidth | 3.35 TB/s | <- {} |",
    "## H100 SXM against H200\n\nHBM bandwidth: 3.35 TB/s <- {}",
    "## v12 on Hopper\n\nHBM bandwidth: 3.35 TB/s <- {}",
    "## H200\n\nH100 SXM HBM bandwidth: 3.35 TB/s <- {}",
    "```sh\n# H200\n```\nHBM bandwidth: 3.35 TB/s <- {}",
    "~~3.0 TB/s~~ HBM3 bandwidth: 3.35 TB/s <- {}", "1x H100 SXM HBM3 bandwidth: 3.35 TB/s <- {}",
    "Softmax roofline: HBM3 bandwidth: 3.35 TB/s <- {}",
    "H100 SXM HBM3 bandwidth: 3.35 TB/s (datasheet, 2026-01-14) <- {}",
    "HBM3 bandwidth: 3.35 TB/s <- {}, measured 2.9 TB/s",
    "Against the H200:\n- see below\n\nGlobal memory bandwidth: 3.35 TB/s <- {}",
    "---\nchip: H200\n---\nHBM bandwidth: 3.35 TB/s <- {}",
    "HBM3 bandwidth: 3.35 TB/s (80 GB) <- {}", "H100 SXM HBM3 Memory Bandwidth: 3.35 TB/s <- {}",
]  # fmt: skip
FORMS = {
    "label": "{} HBM bandwidth: 3.35 TB/s <- {place}",
    "head": "{}: HBM bandwidth: 3.35 TB/s <- {place}",
    "before": "- On {}, HBM bandwidth: 3.35 TB/s <- {place}",
    "behind": "HBM bandwidth of the {}: 3.35 TB/s <- {place}",
    "remark": "HBM bandwidth: 3.35 TB/s ({}) <- {place}",
    "intro": "{}:\n\n- HBM bandwidth: 3.35 TB/s <- {place}",
    "bold": "**{}**\n\nHBM bandwidth: 3.35 TB/s <- {place}",
    "underlined": "{}\n====\n\nHBM bandwidth: 3.35 TB/s <- {place}",
    "link": "HBM bandwidth: 3.35 TB/s <- [{}]({place})",
    "heading": "## {}\n\nHBM bandwidth: 3.35 TB/s <- {place}",
    "column": "| metric | {} | source |\n|---|---|---|\n| HBM bandwidth | 3.35 TB/s | <- {place} |",
}


@pytest.fixture
def ask(judge):
    def verdicts(text, suffix=".md"):
        return [judge.judge(found) for found in scan_text(f"{text}\n", suffix).citations]

    return verdicts


@pytest.fixture
def place(wiki):
    return lambda metric, chip="h100_sxm": str(wiki.chips[chip].chip.find(metric).citation)


@pytest.mark.parametrize("form", FORMS)
def test_a_page_speaks_of_its_own_chip_alone(ask, place, form):
    where = place("memory_bandwidth")
    above = form in ("heading", "intro", "bold", "underlined")
    parts = [part for part in PARTS if part != "XYZ900" or not above]
    texts = [FORMS[form].format(part, place=where) for part in parts]
    assert [text for text in texts if ask(text)[0].verdict == "ok"] == []


@pytest.mark.parametrize("form", ["label", "head", "behind"])
def test_its_own_name_beside_another_does_not_save_it(ask, place, form):
    texts = [FORMS[form].format(part, place=place("memory_bandwidth")) for part in BOTH]
    assert [text for text in texts if ask(text)[0].verdict == "ok"] == []


@pytest.mark.parametrize("text", [
    "{}: 3.35 TB/s <- {place}",
    "| metric | value | source |\n|---|---|---|\n| {} | 3.35 TB/s | <- {place} |",
])  # fmt: skip
def test_a_label_that_says_more_than_the_row_does_not_pass(ask, place, text):
    texts = [text.format(label, place=place("memory_bandwidth")) for label in LABELS]
    assert [text for text in texts if ask(text)[0].verdict == "ok"] == []


@pytest.mark.parametrize("label", ["HBM3 bandwidth: ", "The HBM3 bandwidth is "])
def test_what_stands_around_the_number_is_accounted_for(ask, place, label):
    texts = [f"{label}{value} <- {place('memory_bandwidth')}" for value in VALUES]
    assert [text for text in texts if ask(text)[0].verdict == "ok"] == []


@pytest.mark.parametrize(("text", "metric"), [
    ("~~HBM3 bandwidth: 3.35 TB/s~~ <- {}", "memory_bandwidth"),
    ("~~HBM3 bandwidth: 3.35 TB/s <- {}~~", "memory_bandwidth"),
    ("<del>HBM3 bandwidth: 3.35 TB/s</del> <- {}", "memory_bandwidth"),
    ("HBM3 bandwidth: 3.35 TB/s <- {} (disproved)", "memory_bandwidth"),
    ("HBM3 bandwidth: 3.35 TB/s <- {} (H200)", "memory_bandwidth"),
    ("HBM3 bandwidth: 3.35 TB/s <- {} was refuted", "memory_bandwidth"),
    ("HBM3 bandwidth: 3.35 TB/s <- {}, deprecated", "memory_bandwidth"),
    ("HBM3 bandwidth: 3.35 TB/s <- {} measured", "memory_bandwidth"),
    ("next-gen HBM bandwidth: 3.35 TB/s <- {}", "memory_bandwidth"),
    ("non-HBM3 bandwidth: 3.35 TB/s <- {}", "memory_bandwidth"),
    ("L2 line: 50 MB <- {}", "l2_size"), ("L2 cache bandwidth: 50 MB <- {}", "l2_size"),
    ("FP32 vector: 67 TFLOPS at base clock <- {}", "peak_fp32"),
    ("FP32 vector at base clock: 67 TFLOPS <- {}", "peak_fp32"),
    ("FP32 vector: 67 TFLOPS measured <- {}", "peak_fp32"),
    ("HBM3e capacity: 80 GB <- {}", "memory_capacity"),
    ("HBM3 capacity: 80 GB free <- {}", "memory_capacity"),
])  # fmt: skip
def test_conditions_denials_and_parts_do_not_pass(ask, place, text, metric):
    assert ask(text.replace("{}", place(metric)))[0].verdict != "ok"


def test_a_remark_explains_a_part_only_for_its_own_number(ask, place):
    where = place("unit_count", "mi300x")
    assert ask(f"MI300X CUs: 304 per XCD <- {where}")[0].verdict == "wrong_value"
    assert ask(f"MI300X CUs: 304 per GPU <- {where}")[0].verdict == "ok"


@pytest.mark.parametrize("text", HONEST)
def test_an_ordinary_citation_passes_with_every_word_explained(ask, place, text):
    found = ask(text.replace("{}", place("memory_bandwidth")))[-1]
    assert (found.verdict, found.unexplained) == ("ok", ()), found


@pytest.mark.parametrize(("text", "metric"), [
    ("FP32 vector: 67 TFLOPS at boost clock <- {}", "peak_fp32"),
    ("FP32 vector: 67 TFLOPS at 1980 MHz <- {}", "peak_fp32"),
    ("SMs: 132 (66 TPC) <- {}", "unit_count"),
    ("It has 132 SMs <- {}", "unit_count"),
    ("Streaming multiprocessors: 132 <- {}", "unit_count"),
    ("FP64 non-tensor peak: 34 TFLOPS <- {}", "peak_fp64"),
    ("BF16 Tensor Core throughput (dense, no sparsity): 989.4 TFLOPS <- {}", "peak_bf16_tensor"),
    ("FP16/BF16 tensor: 989.4 TFLOPS <- {}", "peak_bf16_tensor"),
    ("Tensor Core peak (BF16, dense): 989.4 TFLOPS <- {}", "peak_bf16_tensor"),
])  # fmt: skip
def test_basis_remarks_and_equal_rows_explain_too(ask, place, text, metric):
    found = ask(text.replace("{}", place(metric)))[0]
    assert (found.verdict, found.unexplained) == ("ok", ()), found


def test_plain_words_that_nothing_explains_are_told_and_fail_with_strict_alone(
    knowledge, place, tmp_path
):
    path = tmp_path / "a.md"
    path.write_text(f"mild HBM3 bandwidth: 3.35 TB/s <- {place('memory_bandwidth')}\n")
    report = audit_paths([path], knowledge)
    assert [row.verdict for row in report.citations] == ["ok"]
    assert [(row.kind, "'mild'" in row.text) for row in report.uncited] == [("unexplained", True)]
    assert (report.failed(strict=False), report.failed(strict=True)) == (False, True)


@given(st.from_regex(r"[A-Z]{2,6}[0-9]{1,4}", fullmatch=True))
def test_no_name_that_the_page_does_not_know_passes(judge, name):
    place = "gpu-wiki/hardware/nvidia/h100_sxm.md:L34"
    (found,) = scan_text(f"The {name} HBM bandwidth: 3.35 TB/s <- {place}\n", ".md").citations
    known = {"HBM3", "GH100", "SM90", "CC90"} | {f"SXM{n}" for n in range(10)}
    assert judge.judge(found).verdict != "ok" or name in known
