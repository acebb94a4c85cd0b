"""Hostile overlays and archives: refused or skipped with a reason, never followed."""

from __future__ import annotations

import os

import pytest

from kbs_engine.errors import UsageError, WikiError
from kbs_ingest.audit import Judge, audit_paths, load_knowledge
from kbs_ingest.audit import run as audit_run
from kbs_ingest.audit.scan import scan_text
from tests.conftest import WIKI


def overlay(tmp_path, relative="docs/hardware/h20_spec.md", data=b"# H20\n"):
    path = tmp_path / "team" / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return tmp_path / "team"


@pytest.mark.parametrize(
    "path",
    [
        "../../../etc/passwd", "/etc/passwd", "hardware/../../x.md", "..\\..\\x.md", "~/x.md",
        "C:/x.md", "hardware/nvidia/%2e%2e/x.md", "./hardware/./nvidia/../x.md",
    ],
)  # fmt: skip
def test_a_path_that_leaves_the_wiki_is_missing(judge, path):
    for found in scan_text(f"x bandwidth: 1 TB/s <- gpu-wiki/{path}:L1", ".md").citations:
        assert judge.judge(found).verdict == "missing"


def test_a_link_out_of_the_overlay_and_a_link_in_a_circle_are_refused(tmp_path):
    team = overlay(tmp_path)
    (team / "docs" / "loop").symlink_to(team / "docs")
    load_knowledge([WIKI, team])
    (team / "docs" / "round.md").symlink_to(team / "docs" / "round.md")
    with pytest.raises(WikiError, match="leaves the wiki"):
        load_knowledge([WIKI, team])
    (team / "docs" / "round.md").unlink()
    (team / "docs" / "out.md").symlink_to("/etc/passwd")
    with pytest.raises(WikiError, match="leaves the wiki"):
        load_knowledge([WIKI, team])


def test_a_huge_page_is_refused(tmp_path):
    team = overlay(tmp_path)
    with (team / "docs" / "huge.md").open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    with pytest.raises(WikiError, match="209715200 bytes"):
        load_knowledge([WIKI, team])


def test_a_yaml_bomb_in_a_page_of_specs_is_refused(tmp_path):
    bomb = b"---\nkind: hardware\na: &a [x]\nb: [*a, *a]\n---\n# x\n"
    team = overlay(tmp_path, "hardware/nvidia/bomb.md", bomb)
    with pytest.raises(WikiError, match="anchor"):
        load_knowledge([WIKI, team])


def test_rules_of_an_overlay_are_not_evaluated_by_an_audit(tmp_path):
    rule = b"id: x\nwhen: length(read_text('/etc/passwd')) > 0\n"
    knowledge = load_knowledge([WIKI, overlay(tmp_path, "symptoms/x.yaml", rule)])
    assert any(path.endswith("symptoms/x.yaml") for path in knowledge.pages)


def test_an_overlay_in_a_foreign_layout_is_cited_by_the_older_spelling(tmp_path):
    page = (
        "# H20\n\nNotes.\n\n| Metric | Value | Unit |\n|---|---|---|\n"
        "| HBM3 bandwidth | 4.0 | TB/s |\n| SM count | 78 | |\n\nL2 cache: 60 MB\n"
    )
    knowledge = load_knowledge([WIKI, overlay(tmp_path, data=page.encode())])
    judge = Judge(knowledge)

    def verdict(text):
        (found,) = scan_text(f"{text}\n", ".md").citations
        return judge.judge(found).verdict

    place = "<gpu-wiki>/docs/hardware/h20_spec.md"
    assert verdict(f"H20 HBM3 bandwidth: 4.0 TB/s <- {place}:L7") == "ok"
    assert verdict(f"H20 HBM3 bandwidth: 4000 GB/s <- {place}:L5") == "moved"
    assert verdict(f"H20 HBM3 bandwidth: 4.4 TB/s <- {place}:L7") == "changed"
    assert verdict(f"H20 HBM3 bandwidth: 40 TB/s <- {place}:L7") == "wrong_value"
    assert verdict(f"H100 SXM HBM3 bandwidth: 4.0 TB/s <- {place}:L7") == "wrong_chip"
    assert verdict(f"H20 TDP: 400 W <- {place}:L7") == "missing"
    assert verdict(f"H20 L2 cache: 60 MB <- {place}:L10") == "ok"


def test_files_that_are_no_text_are_skipped_with_a_note(knowledge, tmp_path, monkeypatch):
    monkeypatch.setattr(audit_run, "MAX_BYTES", 1000)
    (tmp_path / "a.bin").write_bytes(b"\0\1\2")
    (tmp_path / "big.md").write_bytes(b"x" * 1001)
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "lost.md").symlink_to(tmp_path / "nowhere.md")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "empty.md").write_bytes(b"")
    report = audit_paths([tmp_path], knowledge)
    notes = "\n".join(report.notes)
    for reason in (
        "a.bin: binary",
        "big.md: 1001 bytes",
        "pipe.md: not a regular",
        "lost.md: cannot",
    ):
        assert reason in notes
    assert report.files == 1


def test_a_path_that_is_not_there_is_wrong_usage(knowledge, tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        audit_paths([tmp_path / "nowhere"], knowledge)


def test_a_pool_gives_the_same_answer_as_one_process(knowledge, rows, tmp_path):
    for number in range(300):
        row = rows[number % len(rows)]
        (tmp_path / f"r{number:03}.md").write_text(f"- {row.text}\n", encoding="utf-8")
    alone = audit_paths([tmp_path], knowledge, jobs=1)
    steps = []
    together = audit_paths(
        [tmp_path], knowledge, jobs=2, progress=lambda done, total: steps.append((done, total))
    )
    assert together == alone
    assert steps[-1] == (300, 300)


def test_a_pool_that_cannot_start_is_done_without(knowledge, rows, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise OSError(28, "no space left")

    monkeypatch.setattr(audit_run, "ProcessPoolExecutor", broken)
    for number in range(300):
        (tmp_path / f"r{number:03}.md").write_text(rows[0].text, encoding="utf-8")
    report = audit_paths([tmp_path], knowledge, jobs=2)
    assert report.files == 300
