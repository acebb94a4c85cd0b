"""The wiki as records: values, lines, inheritance, overlay, chunks."""

from __future__ import annotations

from pathlib import Path

from wiki_fixture import CONFLICTS, H100, METHOD, UNCOALESCED, line_of, write_wiki

from kbs_ingest.wiki import load_wiki


def test_citations_name_the_line_of_the_row(wiki_root: Path) -> None:
    chip = load_wiki([wiki_root]).chips["h100_sxm"].chip
    spec = chip.find("memory_bandwidth")
    assert spec is not None
    assert spec.base_value == 3.35e12
    line = line_of(H100, "`memory_bandwidth`")
    assert str(spec.citation) == f"gpu-wiki/hardware/nvidia/h100_sxm.md:L{line}"
    assert (wiki_root / spec.citation.path).read_text().splitlines()[line - 1].count("3.35") == 1


def test_every_line_number_points_at_what_it_cites(wiki_root: Path) -> None:
    wiki = load_wiki([wiki_root])
    for page in wiki.chips.values():
        for spec in page.chip.specs:
            text = (wiki_root / spec.citation.path).read_text().splitlines()
            assert f"`{spec.metric}`" in text[spec.citation.line - 1]
    for method in wiki.methods.values():
        text = (wiki_root / method.citation.path).read_text().splitlines()
        assert text[method.citation.line - 1] == f"# {method.title}"
    for chunk in wiki.chunks:
        text = (wiki_root / chunk.path).read_text().splitlines()
        assert 1 <= chunk.line <= len(text)
        if text[chunk.line - 1].startswith("#") and chunk.path.endswith(".md"):
            assert text[chunk.line - 1].lstrip("# ") == chunk.heading[-1]


def test_dense_is_found_and_sparse_never_answers_for_it(wiki_root: Path) -> None:
    chip = load_wiki([wiki_root]).chips["h100_sxm"].chip
    assert chip.number("peak_bf16_tensor") == 989.4e12
    sparse = chip.find("peak_bf16_tensor", density="sparse")
    assert sparse is not None
    assert sparse.value == 1978.9
    assert sparse.basis.accumulate == "fp32"
    assert sparse.basis.clock_hz == 1.83e9


def test_unknown_stays_unknown(wiki_root: Path) -> None:
    chip = load_wiki([wiki_root]).chips["h100_sxm"].chip
    assert chip.number("peak_fp4_tensor") is None
    (row,) = [spec for spec in chip.specs if spec.metric == "peak_fp4_tensor"]
    assert row.value is None
    assert "UNKNOWN (gpu-wiki not found)" in row.cite()


def test_limits_are_inherited_with_their_own_citation(wiki_root: Path) -> None:
    chip = load_wiki([wiki_root]).chips["h100_sxm"].chip
    spec = chip.find("shared_per_block_max")
    assert spec is not None
    assert spec.base_value == 227 * 1024
    assert spec.citation.path == "hardware/nvidia/cc_9_0.md"
    assert spec.chip == "h100_sxm"


def test_own_rows_win_over_inherited(tmp_path: Path) -> None:
    own = H100.replace(
        "| `memory_type`",
        "| `max_warps_per_unit` warps | 48 |  | per unit | [page] table (A) |\n| `memory_type`",
    )
    root = write_wiki(tmp_path, {"hardware/nvidia/h100_sxm.md": own})
    chip = load_wiki([root]).chips["h100_sxm"].chip
    assert [spec.value for spec in chip.specs if spec.metric == "max_warps_per_unit"] == [48.0]


def test_measured_rows_belong_to_their_chip(wiki_root: Path) -> None:
    chips = load_wiki([wiki_root]).chips
    spec = chips["h100_sxm"].chip.find("memory_bandwidth", measured=True)
    assert spec is not None
    assert (spec.value, spec.grade, spec.citation.path) == (3.01, "D", "measured/h100_sxm_host.md")
    assert chips["h100_pcie"].chip.find("memory_bandwidth", measured=True) is None


def test_method_rule_and_lists(wiki_root: Path) -> None:
    wiki = load_wiki([wiki_root])
    method = wiki.methods["coalesced_access"]
    assert method.addresses == {"uncoalesced_global_load": 0.9}
    assert method.citation.line == line_of(METHOD, "# Coalesced")
    assert wiki.rules["uncoalesced_global_load"].citation.line == line_of(UNCOALESCED, "id:")
    assert wiki.rules["shared_bank_conflicts"].recoverable == "0.1"
    assert wiki.groups == (frozenset({"coalesced_access", "smem_padding"}),)
    assert wiki.features["tma"].archs == ("sm_90a", "sm_100a")
    assert wiki.signatures["coalesced_access"].raw["method"] == "coalesced_access"
    assert "dram_pct" in wiki.metric_maps["nvidia"].metrics
    assert wiki.cases["transpose_case"].title == "Transpose"


def test_chunks_carry_kind_heading_language_and_arch(wiki_root: Path) -> None:
    chunks = load_wiki([wiki_root]).chunks
    code = next(c for c in chunks if c.heading[-1:] == ("CUDA C++",))
    assert (code.kind, code.owner, code.languages) == ("method", "coalesced_access", ("cuda-cpp",))
    assert code.heading == ("Coalesced global access", "How", "CUDA C++")
    assert code.archs == ("sm_100a", "sm_90a")
    kinds = {chunk.kind for chunk in chunks}
    assert kinds == {
        "hardware", "limits", "measured", "spec", "method", "symptom", "case", "profiling",
        "page", "example",
    }  # fmt: skip
    assert len({chunk.id for chunk in chunks}) == len(chunks)


def test_long_sections_are_cut_and_keep_their_lines(tmp_path: Path) -> None:
    paragraphs = "\n\n".join(f"paragraph {n} " + "word " * 60 for n in range(40))
    root = write_wiki(tmp_path, {"profiling/long.md": f"# Long\n\n{paragraphs}\n"})
    lines = (root / "profiling/long.md").read_text().splitlines()
    pieces = [c for c in load_wiki([root]).chunks if c.path == "profiling/long.md"]
    assert len(pieces) > 3
    for piece in pieces[1:]:
        assert lines[piece.line - 1] == piece.text.splitlines()[0].rstrip() + " "
    assert "".join("".join(p.text.split()) for p in pieces) == "".join(paragraphs.split())


def test_a_later_root_replaces_by_id_and_is_cited_with_its_name(
    wiki_root: Path, tmp_path: Path
) -> None:
    team = tmp_path / "team"
    (team / "symptoms").mkdir(parents=True)
    (team / "symptoms/shared_bank_conflicts.yaml").write_text(
        CONFLICTS.replace("> 1.5", "> 3").replace("Shared memory bank", "Team bank")
    )
    wiki = load_wiki([wiki_root, team])
    rule = wiki.rules["shared_bank_conflicts"]
    assert rule.when.endswith("> 3")
    assert rule.citation.path == "team/symptoms/shared_bank_conflicts.yaml"
    shown = [c for c in wiki.chunks if c.owner == "shared_bank_conflicts"]
    assert [c.title for c in shown] == ["Team bank conflicts"]
    assert wiki.rules["uncoalesced_global_load"].citation.path.startswith("symptoms/")


def test_a_root_named_like_a_folder_of_the_first_gets_another_name(
    wiki_root: Path, tmp_path: Path
) -> None:
    team = tmp_path / "other" / "symptoms"
    (team / "symptoms").mkdir(parents=True)
    (team / "symptoms/shared_bank_conflicts.yaml").write_text(CONFLICTS)
    rule = load_wiki([wiki_root, team]).rules["shared_bank_conflicts"]
    assert rule.citation.path == "symptoms-2/symptoms/shared_bank_conflicts.yaml"


def test_a_foreign_wiki_is_searched_only(wiki_root: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "notes"
    (foreign / "docs").mkdir(parents=True)
    (foreign / "docs/h100.md").write_text(
        "---\ntitle: [odd\n---\n# H100\n\n| a | b |\n|---|---|\n| 1 |\n\n## Bandwidth\n3.35 TB/s\n"
    )
    wiki = load_wiki([wiki_root, foreign])
    found = [chunk for chunk in wiki.chunks if chunk.path == "notes/docs/h100.md"]
    assert {chunk.kind for chunk in found} == {"page"}
    assert any(chunk.heading == ("H100", "Bandwidth") for chunk in found)
    assert len(wiki.chips) == 2
