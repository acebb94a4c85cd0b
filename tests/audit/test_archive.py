"""Every planted citation in every container gets the verdict that it was planted with."""

from __future__ import annotations

from collections import Counter

import pytest

from kbs_ingest.audit import audit_paths
from kbs_ingest.audit.model import VERDICTS
from kbs_ingest.audit.scan import scan_text
from tests.audit.planted import CONTAINERS, cited


def test_the_archive_has_all_verdicts_and_at_least_sixty_citations(rows):
    counts = Counter(row.verdict for row in rows)
    assert set(counts) == set(VERDICTS)
    assert len(rows) * len(CONTAINERS) >= 60 * len(VERDICTS)


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_citation_is_classified_right(name, rows, knowledge, tmp_path):
    text, lines = CONTAINERS[name](rows)
    path = tmp_path / name
    path.write_bytes(text.encode())
    report = audit_paths([path], knowledge)
    twice = 2 if name == "two.md" else 1
    wanted = [row for row in rows for _ in range(twice)]
    got = [(row.line, row.verdict) for row in report.citations]
    told = [f"{row.line} {row.verdict}: {row.text} ({row.detail})" for row in report.citations]
    assert got == [(line, row.verdict) for line, row in zip(lines, wanted, strict=True)], told
    assert [row.text for row in report.uncited] == []


def test_a_whole_tree_is_audited_with_the_same_verdicts(rows, knowledge, tmp_path):
    for name, make in CONTAINERS.items():
        folder = tmp_path / name.replace(".", "_")
        folder.mkdir()
        (folder / name).write_bytes(make(rows)[0].encode())
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0\0")
    report = audit_paths([tmp_path], knowledge)
    assert report.files == len(CONTAINERS)
    wanted = Counter(row.verdict for row in rows)
    total = Counter(row.verdict for row in report.citations)
    assert total == {name: count * (len(CONTAINERS) + 1) for name, count in wanted.items()}
    assert any("picture.png: binary" in note for note in report.notes)


def test_every_spec_that_the_wiki_can_cite_is_ok_and_moves_when_its_line_does(wiki, judge):
    for page in wiki.chips.values():
        for spec in page.chip.specs:
            for label in (page.chip.name, page.chip.id, ""):
                text = cited(spec, label)
                (found,) = scan_text(text, ".md").citations
                assert judge.judge(found).verdict == "ok", text
            if spec.value is None:
                continue
            line = spec.citation.line
            (found,) = scan_text(text.replace(f":L{line}", f":L{line + 900}"), ".md").citations
            verdict = judge.judge(found)
            assert verdict.verdict == "moved", text
            shown = page.chip.find(spec.metric)
            assert verdict.line == line or shown is not None, text


def test_a_grid_reads_chip_from_the_row_and_metric_from_the_column(wiki, judge):
    line = wiki.chips["h100_sxm"].chip.find("memory_bandwidth").citation.line
    place = f"gpu-wiki/hardware/nvidia/h100_sxm.md:L{line}"
    text = (
        "| GPU | L2 cache | HBM3 bandwidth |\n|---|---|---|\n"
        f"| H100 SXM | – | 3.35 TB/s <- {place} |\n| H100 PCIe | – | 3.35 TB/s <- {place} |\n"
    )
    verdicts = [judge.judge(found).verdict for found in scan_text(text, ".md").citations]
    assert verdicts == ["ok", "wrong_chip"]
