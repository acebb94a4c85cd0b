"""A run's README holds no spec without a citation that the audit accepts."""

from __future__ import annotations

import pytest

from kbs.inspecting import gate_inspectors
from kbs_engine.reports import baseline_report, workspace_readme
from kbs_engine.roofline import build_roofline
from kbs_engine.run import RunFolder
from kbs_engine.run.view import read_run
from kbs_engine.work import Work
from tests.conftest import WIKI

WANTED = ("memory_bandwidth", "peak_fp32", "l2_size", "unit_count")


@pytest.fixture(scope="module")
def inspectors(made):
    return gate_inspectors([WIKI], made / "run")


@pytest.mark.parametrize("name", ["h100_sxm", "h20", "mi300x"])
def test_specs_and_roofline_pass_the_audit(run_at, inspectors, wiki, name):
    chip = wiki.chips[name].chip
    work = Work(kernel="softmax", dtype="fp32", flops=1e8, bytes_in=67e6, bytes_out=67e6)
    line = build_roofline({"duration_ns": 61_000.0}, chip=chip, work=work)
    specs = [spec.cite(chip.name) for metric in WANTED if (spec := chip.find(metric))]
    assert specs
    with RunFolder.open(run_at) as run:
        text = workspace_readme(run.state(), specs=specs, roofline=line, work=work)
        assert baseline_report(read_run(run))
    path = run_at / "README.md"
    path.write_text(text)
    assert [fault.message for fault in inspectors.audit([path])] == []
    assert "memory roof" in text
    path.write_text(text.replace(specs[0], specs[0].split(" <- ")[0]))
    assert inspectors.audit([path])


def test_references_resolve_or_say_why(inspectors):
    ask = inspectors.unresolved
    assert ask("gpu-wiki/methods/memory/vectorized_access.md:L1") == ""
    assert ask("v0/bench.json") == ""
    assert ask("v0/nothing.json") == "no such file in the run"
    assert "no such record" in ask("outcome 0123456789abcdef")
    assert "is no gpu-wiki citation" in ask("a blog that I read")
    assert ask("gpu-wiki/methods/memory/vectorized_access.md:L99999")
