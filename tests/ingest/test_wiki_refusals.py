# ruff: noqa: E501 - tables and messages stand on one line, as in the files that they test
"""Every refusal: where it points, what it says, and that all faults come at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from wiki_fixture import (
    CC90 as LIMITS,
)
from wiki_fixture import (
    CONFLICTS,
    FEATURES,
    H100,
    H100_PCIE,
    MEASURED,
    METHOD,
    METRICS,
    PADDING,
    SIGNATURE,
    UNCOALESCED,
    write_wiki,
)

from kbs_engine.errors import WikiError
from kbs_ingest.wiki import load_wiki
from kbs_ingest.wiki.metric_ids import DTYPES, METRIC_QUANTITY
from kbs_ingest.wikicheck import check_wiki

CHIP = "hardware/nvidia/h100_sxm.md"
PCIE = "hardware/nvidia/h100_pcie.md"
PAGE = "methods/memory/coalesced_access.md"
CC90 = "hardware/nvidia/cc_9_0.md"
PAD = "methods/memory/smem_padding.md"
RULE = "symptoms/uncoalesced_global_load.yaml"
OTHER = "symptoms/shared_bank_conflicts.yaml"
ROW = "| `memory_bandwidth` HBM3 bandwidth | 3.35 | TB/s | per chip | [page] product page (A) |"


def _at(text: str, old: str, new: str) -> tuple[str, int]:
    """The changed text and the line of the change."""
    assert text.count(old) >= 1, old
    return text.replace(old, new, 1), text[: text.index(old)].count("\n") + 1


CASES = [
    # hardware tables
    (CHIP, H100, ROW, ROW + " extra |", "6 cells, its header has 5"),
    (CHIP, H100, ROW, "| `memory_bandwidth` | 3.35 | TB/s |", "3 cells, its header has 5"),
    (CHIP, H100, "|---|---|---|---|---|\n", "", "without a header and a delimiter row"),
    (CHIP, H100, "|---|---|---|---|---|", "|---|---|---|", "without a header and a delimiter row"),
    (CHIP, H100, ROW, "\n" + ROW, "without a header and a delimiter row"),
    (CHIP, H100, "[page] product page (A)", "", "has no source"),
    (CHIP, H100, "[page] product page (A)", "[lost] page (A)", "[lost] does not stand"),
    (CHIP, H100, "[page] product page (A)", "[page] product page", "no grade"),
    (CHIP, H100, "| 3.35 |", "| 3,350 |", "not a plain decimal number"),
    (CHIP, H100, "| 3.35 |", "| 3.0-3.35 |", "not a plain decimal number"),
    (CHIP, H100, "| 3.35 |", "| ~3.35 |", "not a plain decimal number"),
    (CHIP, H100, "| 3.35 |", "|  |", "the value is empty"),
    (CHIP, H100, "| TB/s |", "| TBps |", "unknown unit 'TBps'"),
    (CHIP, H100, "`memory_bandwidth` HBM3", "HBM3", "does not begin with an id"),
    (CHIP, H100, "dense; fp32", "fp32", "does not say dense or sparse"),
    (CHIP, H100, "dense; fp32", "dense; sparse; fp32", "density twice"),
    (CHIP, H100, "sparse; fp32", "dense; fp32", "stands on line"),
    (CHIP, H100, "| HBM3 |  |", "| HBM3 | GB |", "is a word and has the unit"),
    (CHIP, H100, "| Source |", "| Origin |", "a table of specs has the columns"),
    (CHIP, H100, "| 3.35 |", "| -3.35 |", "zero, negative or without end"),
    (CHIP, H100, "| 3.35 |", "| 0 |", "zero, negative or without end"),
    (CHIP, H100, "| 989.4 |", "| -989.4 |", "zero, negative or without end"),
    (CHIP, H100, "| 3.35 |", f"| {'9' * 400} |", "zero, negative or without end"),
    (CHIP, H100, "| 3.35 | TB/s |", "| 3.35 | GB |", "it is a bandwidth"),
    (CHIP, H100, "| 3.35 | TB/s |", "| 3.35 | |", "it is a bandwidth"),
    (CHIP, H100, "| 3.35 | TB/s |", "| fast | |", "it is a bandwidth"),
    (CHIP, H100, "| 989.4 | TFLOPS |", "| 989.4 | TB/s |", "it is a peak"),
    (CHIP, H100, "fp32 accumulate; per chip; clock", "fp32 accumulate; clock", "does not say per chip"),
    (CHIP, H100, "`memory_bandwidth`", "`memory_bandwith`", "did you mean memory_bandwidth"),
    (CHIP, H100, "arch: sm_90a", "arch: hopper", "'hopper' is no architecture"),
    (CHIP, H100, "arch: sm_90a", "arch: gfx942", "no architecture of nvidia"),
    (CC90, LIMITS, "| 64 |", "| 0 |", "zero, negative or without end"),
    (CC90, LIMITS, "| 64 |", "| 64.5 |", "it is a whole number"),
    (CC90, LIMITS, "| 64 |  |", "| 64 | KiB |", "it is a whole number without a unit"),
    (CC90, LIMITS, "| 227 | KiB |", "| 227 | MHz |", "it is a size"),
    (CC90, LIMITS, "kind: limits", "kind: limits\narch: cc90", "'cc90' is no architecture"),
    (CHIP, H100, "inherits: cc_9_0", "inherits: cc_9_9", "no limits page 'cc_9_9'"),
    (CHIP, H100, "inherits: cc_9_0", "inherits: ../secret", "no limits page"),
    (CHIP, H100, "id: h100_sxm", "id: h100_sxm5", "the file is h100_sxm"),
    (CHIP, H100, "vendor: nvidia", "vendor: intel", "Invalid enum value 'intel'"),
    (CHIP, H100, "vendor: nvidia", "vendor: nvidia\ncolour: green", "unknown field `colour`"),
    (CHIP, H100, "kind: hardware", "kind: chip", "no front matter with a kind"),
    (CHIP, H100, "H100 SXM]", "nvidia-h100_PCIe]", "names h100_pcie already"),
    (PCIE, H100_PCIE, "ambiguous: [H100]", "ambiguous: [H100 SXM]", "is called ambiguous"),
    ("measured/h100_sxm_host.md", MEASURED, "chip: h100_sxm", "chip: h100", "no chip 'h100'"),
    # YAML
    (CHIP, H100, "id: h100_sxm", "id: !!python/object:os.system x", "tag"),
    (CHIP, H100, "id: h100_sxm", "id: &a h100_sxm", "anchor"),
    (CHIP, H100, "vendor: nvidia", "vendor: nvidia\nvendor: amd", "twice"),
    (RULE, UNCOALESCED, "axis: memory", "axis: [memory", "not valid YAML"),
    (RULE, UNCOALESCED, "axis: memory", "axis: disk", "Invalid enum value 'disk'"),
    # methods
    (PAGE, METHOD, "uncoalesced_global_load: 0.9", "uncoalesced_load: 0.9", "which no page defines"),
    (PAGE, METHOD, "uncoalesced_global_load: 0.9", "uncoalesced_global_load: 1.9", "outside 0–1"),
    (PAGE, METHOD, "complements: [smem", "complements: [shmem", "which no page defines"),
    (PAGE, METHOD, "complements: [smem", "conflicts: [shmem", "which no page defines"),
    (PAGE, METHOD, "requires: [tma]", "requires: [tmaa]", "the feature 'tmaa'"),
    (PAGE, METHOD, "load_sectors_per_request: down", "load_sectors: down", "metric 'load_sectors'"),
    (PAGE, METHOD, "signature: coalesced_access", "signature: ../x", "the signature '../x'"),
    (PAGE, METHOD, "status: cited", "status: exercised", "without a measured result"),
    (PAGE, METHOD, "axis: memory", "axis: latency", "the page lies in methods/memory"),
    (PAGE, METHOD, "priority: 1", "priority: 9", "priority is 9"),
    (PAGE, METHOD, "## Verify", "## Check", "has the headings"),
    (PAGE, METHOD, "### CUDA C++", "### Triton", "which languages does not list"),
    (PAGE, METHOD, "because: Every sector that is moved is used in full, so nothing is left to gain.",
     "because: no gain", "too short to state a mechanism"),
    (PAGE, METHOD, "needs: [p.load_bytes_per_sector_pct]", "needs: []", "do not list"),
    (PAGE, METHOD, "when: p.load_bytes_per_sector_pct >= 95", "when: read_csv('x')", "function"),
    (PAD, PADDING, "---\nkind: method", "kind: method", "no front matter with a kind"),
    (PAD, PADDING, "sources: [{title: CUDA C++ Best Practices Guide}]\n---\n",
     "sources: [{title: CUDA C++ Best Practices Guide}]\n", "front matter is not closed"),
    ("methods/groups.yaml", "groups:\n  - [coalesced_access, smem_padding]\n", "smem_padding",
     "smem_pad", "the method 'smem_pad'"),
    (PAGE, METHOD, "  - title: CUDA C++ Best Practices Guide", "  - title: ''", "source has no title"),
    (PAGE, METHOD, "Neighbouring threads read neighbouring addresses, so that a warp touches few sectors.",
     "", "no introductory paragraph"),
    (PAGE, METHOD, "Neighbouring threads read neighbouring addresses, so that a warp touches few sectors.",
     "```\ncode\n```\n- a list", "no introductory paragraph"),
    (PAD, PADDING, "sources: [{title: CUDA C++ Best Practices Guide}]", "sources: []", "sources is empty"),
    # symptom rules
    (OTHER, CONFLICTS, "sources: [{title: Nsight Compute SharedMemoryConflicts rule}]", "sources: []",
     "sources is empty"),
    (OTHER, CONFLICTS, "{title: Nsight Compute SharedMemoryConflicts rule}", "{title: ' '}",
     "source has no title"),
    (OTHER, CONFLICTS, "explains: [uncoalesced_global_load]", "explains: [shared_bank_conflicts]",
     "names the symptom itself"),
    (OTHER, CONFLICTS, "explains:", "sections: [MemoryTables]\nexplains:", "no section 'MemoryTables'"),
    (OTHER, CONFLICTS, "recoverable: 0.1", "recoverable: 7", "is 7, outside 0–1"),
    (OTHER, CONFLICTS, "recoverable: 0.1", "recoverable: -1", "is -1, outside 0–1"),
    (OTHER, CONFLICTS, "recoverable: 0.1", "recoverable: 3 * 0.5", "is 1.5, outside 0–1"),
    (OTHER, CONFLICTS, "recoverable: 0.1", "recoverable: 1 / 0", "has no value"),
    (OTHER, CONFLICTS, "severity: 1 - 1 / p.shared_load_conflict_ways", "severity: 7",
     "severity: is 7, outside 0–1"),
    ("isa/features.yaml", FEATURES, "sm_90a, sm_100a", "sm_90a, hopper", "'hopper' is no architecture"),
    ("signatures/coalesced_access.yaml", SIGNATURE, "[sm_90a]", "[90a]", "'90a' is no architecture"),
    (RULE, UNCOALESCED, "< 70 AND", "< (SELECT 70) AND", "subquery is not allowed"),
    (RULE, UNCOALESCED, "when: p.", "when: read_csv('/etc/passwd') > 1 AND p.", "'read_csv'"),
    (RULE, UNCOALESCED, "when: p.load_bytes_per_sector_pct < 70", "when: COPY t TO 'x'", "not one SQL"),
    (RULE, UNCOALESCED, "when: p.load_bytes", "when: p.load_byte", "no column"),
    (RULE, UNCOALESCED, "optional: [p.l1_pct]", "optional: [p.l1_pct, p.l9_pct]", "no column 'p.l9_pct'"),
    (RULE, UNCOALESCED, "optional: [p.l1_pct]", "optional: []", "uses p.l1_pct"),
    (RULE, UNCOALESCED, "when: p.load_bytes_per_sector_pct < 70 AND p.load_sectors_per_request > 4.5",
     "when: p.load_bytes_per_sector_pct", "not a boolean"),
    (RULE, UNCOALESCED, "severity: 1 - p.load_bytes_per_sector_pct / 100", "severity: \"'high'\"",
     "not a number"),
    (RULE, UNCOALESCED, "{p.load_sectors_per_request:.1f}", "{p.l2_pct:.1f}", "the message uses"),
    (RULE, UNCOALESCED, "{p.load_sectors_per_request:.1f}", "{p.load_sectors_per_request:q}", "formats"),
    (RULE, UNCOALESCED, "{p.load_sectors_per_request:.1f}", "{p.__class__}", "the message uses"),
    (RULE, UNCOALESCED, "id: uncoalesced", "id: unco", "the file is uncoalesced_global_load"),
    (OTHER, CONFLICTS, "explains: [uncoalesced_global_load]", "explains: [nothing]", "'nothing'"),
    # the other lists
    ("signatures/coalesced_access.yaml", SIGNATURE, "not_observable: the opcode is the same",
     "scope: loop", "Invalid enum value 'loop'"),
    ("signatures/coalesced_access.yaml", SIGNATURE, "claims:", "probes: {positive: ../../x.cu}\nclaims:",
     "not a plain file name"),
    ("isa/features.yaml", FEATURES, ", source: CUDA guide", "", "missing required field `source`"),
    ("metrics/nvidia.yaml", METRICS, "unit: pct", "unit: percent", "Invalid enum value 'percent'"),
    ("cases/published.yaml", "cases:\n  - {id: one}\n  - {id: one}\n", "{id: one}\n  - {id: one}",
     "{id: one}\n  - {id: one}", "stands at"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text", "old", "new", "message"), CASES)
def test_refused_with_path_line_and_reason(
    tmp_path: Path, path: str, text: str, old: str, new: str, message: str
) -> None:
    changed, line = _at(text, old, new)
    root = write_wiki(tmp_path, {path: changed})
    with pytest.raises(WikiError) as caught:
        load_wiki([root])
    shown = str(caught.value)
    assert message in shown
    mentioned = [part for part in shown.splitlines() if message in part]
    assert any(f"{path}:" in part for part in mentioned), shown
    numbers = [
        int(part.split(f"{path}:")[1].split(":")[0]) for part in mentioned if f"{path}:" in part
    ]
    assert any(number == 1 or abs(number - line) <= 3 for number in numbers), (numbers, line)


def test_all_faults_come_in_one_error(tmp_path: Path) -> None:
    root = write_wiki(
        tmp_path,
        {
            CHIP: H100.replace("| 3.35 |", "| 3,35 |").replace("| TFLOPS | dense", "| TF | dense"),
            RULE: UNCOALESCED.replace("[p.l1_pct]", "[]"),
        },
    )
    with pytest.raises(WikiError) as caught:
        load_wiki([root])
    assert "3 faults, nothing is stored" in caught.value.message
    assert caught.value.where.startswith(f"{root / CHIP}:")
    assert RULE in caught.value.message


BROKEN = [
    (RULE, UNCOALESCED, "axis: memory", "axis: disk"),
    (RULE, UNCOALESCED, "axis: memory", "axis: [memory"),
    (OTHER, CONFLICTS, "title:", "titel:"),
    (PAD, PADDING, "axis: memory", "axis: disk"),
    (PAD, PADDING, "kind: method", "kind: methode"),
    (PAGE, METHOD, "axis: memory", "axis: [memory"),
    (CHIP, H100, "vendor: nvidia", "vendor: intel"),
    ("hardware/nvidia/cc_9_0.md", LIMITS, "vendor: nvidia", "vendor: intel"),
    ("signatures/coalesced_access.yaml", SIGNATURE, "claims:", "claim:"),
    ("isa/features.yaml", FEATURES, ", source: CUDA guide", ""),
    ("metrics/nvidia.yaml", METRICS, "unit: pct", "unit: percent"),
]


@pytest.mark.parametrize(("path", "text", "old", "new"), BROKEN)
def test_only_the_broken_file_is_blamed(
    tmp_path: Path, path: str, text: str, old: str, new: str
) -> None:
    root = write_wiki(tmp_path, {path: _at(text, old, new)[0]})
    with pytest.raises(WikiError) as caught:
        load_wiki([root])
    assert caught.value.where.startswith(f"{root / path}:")
    assert "faults" not in caught.value.message


def test_the_broken_file_comes_before_others_of_its_run(tmp_path: Path) -> None:
    root = write_wiki(
        tmp_path,
        {
            CHIP: H100.replace("| 3.35 |", "| 3,35 |"),
            RULE: UNCOALESCED.replace("axis: memory", "axis: disk"),
        },
    )
    with pytest.raises(WikiError) as caught:
        load_wiki([root])
    assert caught.value.where.startswith(f"{root / RULE}:")
    errors = [fault for fault in check_wiki([root]).faults if fault.severity == "error"]
    assert [fault.file.removeprefix(f"{root}/") for fault in errors][:2] == [RULE, CHIP]


def test_places_of_an_overlay_can_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = write_wiki(tmp_path / "base")
    team = tmp_path / "team"
    (team / "symptoms").mkdir(parents=True)
    (team / "symptoms/foo.yaml").write_text(
        CONFLICTS.replace("id: shared_bank_conflicts", "id: fo")
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WikiError) as caught:
        load_wiki([base, team])
    assert caught.value.where == "team/symptoms/foo.yaml:1"
    monkeypatch.chdir(base)
    with pytest.raises(WikiError) as caught:
        load_wiki([base, team])
    assert caught.value.where == f"{team}/symptoms/foo.yaml:1"


def test_the_table_of_metrics_is_the_list_of_the_page() -> None:
    page = Path(__file__).resolve().parents[2] / "gpu-wiki/hardware/README.md"
    listed = set()
    for found in re.finditer(r"^\| `(\w*(?:<dtype>)?\w*)` \|", page.read_text(), re.MULTILINE):
        listed.update(found[1].replace("<dtype>", dtype) for dtype in DTYPES)
    checks = {"dense_sparse_ratio", "peak_arithmetic"}
    assert listed - checks == set(METRIC_QUANTITY)


def test_only_the_first_twenty_are_listed(tmp_path: Path) -> None:
    addresses = "\n".join(f"  nothing_{n}: 0.5" for n in range(30))
    page = METHOD.replace("  uncoalesced_global_load: 0.9", addresses)
    with pytest.raises(WikiError) as caught:
        load_wiki([write_wiki(tmp_path, {PAGE: page})])
    assert "and 10 more" in caught.value.message
    assert caught.value.message.count("nothing_") == 20


def test_a_file_over_two_megabytes_is_refused(tmp_path: Path) -> None:
    root = write_wiki(tmp_path, {"profiling/big.md": "# Big\n" + "x" * (2 * 1024 * 1024)})
    with pytest.raises(WikiError, match="more than 2097152"):
        load_wiki([root])


def test_a_link_out_of_the_wiki_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n")
    (tmp_path / "folder").mkdir()
    root = write_wiki(tmp_path / "wiki")
    (root / "profiling/link.md").symlink_to(tmp_path / "secret.md")
    (root / "isa/deep").symlink_to(tmp_path / "folder")
    with pytest.raises(WikiError) as caught:
        load_wiki([root])
    assert "profiling/link.md" in str(caught.value)
    assert "isa/deep" in str(caught.value)


def test_a_link_inside_the_wiki_is_read(tmp_path: Path) -> None:
    root = write_wiki(tmp_path / "wiki")
    (root / "profiling/again.md").symlink_to(root / "profiling/ncu.md")
    assert any(chunk.path == "profiling/again.md" for chunk in load_wiki([root]).chunks)


def test_the_same_method_in_two_folders_is_refused(tmp_path: Path) -> None:
    root = write_wiki(tmp_path, {"methods/memory/more/smem_padding.md": PADDING})
    with pytest.raises(WikiError, match="defined twice"):
        load_wiki([root])


def test_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    root = write_wiki(tmp_path)
    (root / "profiling/ncu.md").write_bytes(b"# Title\n\nb\xe9ta\n")
    with pytest.raises(WikiError) as caught:
        load_wiki([root])
    assert caught.value.where == f"{root}/profiling/ncu.md:3"


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WikiError, match="no such wiki folder"):
        load_wiki([tmp_path / "nowhere"])
