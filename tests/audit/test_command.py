"""`kbs audit` as a person or CI calls it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.fixture
def report(rows, tmp_path):
    path = tmp_path / "report.md"
    path.write_text("".join(f"- {row.text}\n" for row in rows), encoding="utf-8")
    return path


def test_json_has_the_documented_shape(kbs, report, rows):
    ran = kbs("audit", report, "--json")
    assert ran.code == 1
    assert [row["verdict"] for row in ran.json["citations"]] == [row.verdict for row in rows]
    for row in ran.json["citations"]:
        assert {"file", "line", "verdict", "text", "detail"} <= set(row)
    assert ran.json["uncited"] == []
    assert kbs("audit", report, "--format", "json").json == ran.json


def test_text_names_file_line_and_verdict(kbs_here, report, rows):
    out = kbs_here("audit", report).out
    number = next(n for n, row in enumerate(rows, 1) if row.verdict == "wrong_chip")
    assert f"{report}:{number}: wrong_chip: " in out
    assert ": ok: " not in out
    assert ": ok: " in kbs_here("-v", "audit", report).out


def test_exit_codes(kbs_here, rows, tmp_path):
    good = tmp_path / "good.md"
    good.write_text(next(row.text for row in rows if row.verdict == "ok"), encoding="utf-8")
    assert kbs_here("audit", good, "--strict").code == 0
    vague = tmp_path / "vague.md"
    vague.write_text("The peak bandwidth is roughly 3 TB/s.\n", encoding="utf-8")
    assert kbs_here("audit", vague).code == 0
    assert kbs_here("audit", vague, "--strict").code == 1
    assert kbs_here("audit", tmp_path / "nowhere.md", "--json").code == 2
    assert kbs_here("audit").code == 2


def test_fix_mends_what_moved_and_then_passes(kbs_here, rows, tmp_path):
    path = tmp_path / "moved.md"
    path.write_text(next(row.text for row in rows if row.verdict == "moved"), encoding="utf-8")
    assert kbs_here("audit", path).code == 1
    ran = kbs_here("audit", path, "--fix", "--json")
    assert ran.code == 0
    assert ran.json["citations"][0]["fixed"]
    assert kbs_here("audit", path).code == 0


def test_sarif_is_one_json_document(kbs_here, report):
    ran = kbs_here("audit", report, "--format", "sarif")
    assert ran.json["version"] == "2.1.0"
    assert ran.json["runs"][0]["results"]


def test_it_needs_no_index_and_loads_nothing_heavy(report, tmp_path):
    code = (
        "import sys\nfrom kbs.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'lancedb', 'sentence_transformers', 'pyarrow'}\n"
        "sys.exit(len(heavy & set(sys.modules)))"
    )
    path = ":".join(str(ROOT / part) for part in ("", "engine", "ingest", "backends"))
    done = subprocess.run(
        [sys.executable, "-c", code, "--home", str(tmp_path / "none"), "audit", str(report)],
        env={"PYTHONPATH": path, "PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
