"""Reports: from measured files alone, the same again, and honest about what is not there."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser

import msgspec
import pytest

from kbs.render.run_html import run_page
from kbs_engine.gate import check_version
from kbs_engine.jobs import BaselineRef
from kbs_engine.reports import (
    RUN_REPORTS,
    analysis,
    env_check,
    ncu_details,
    ncu_summary,
    ncu_top,
    standalone_test,
    workspace_readme,
)
from kbs_engine.run import RunFolder
from kbs_engine.run.benches import build_bench
from kbs_engine.run.files import sha256_of
from kbs_engine.run.records import Env, EnvFinding, Placeholder, Settings, Target
from kbs_engine.run.report_files import report_texts
from kbs_engine.run.view import read_run
from tests.run.folder import Builder


@pytest.fixture
def ended(made_again):
    """A run with its final benchmark and reports."""
    builder = made_again
    finish(builder)
    return builder


@pytest.fixture
def made_again(tmp_path):
    builder = Builder(tmp_path / "run", home=tmp_path / "home")
    builder.version(0)
    builder.passed(0)
    builder.version(1)
    return builder


def finish(builder):
    run = builder.run
    best, zero = builder.sources[1], builder.sources[0]
    block = builder.time(builder.ref(best), builder.ref(zero), BaselineRef(name="pytorch-eager"))
    bench = build_bench(
        version=1, name="final", source_sha256=sha256_of(best), checks=(builder.check(best),),
        blocks=(block,), settings=builder.settings.timing, noise=builder.settings.noise,
    )  # fmt: skip
    run.write(run.paths.benchmark_data, bench)
    run.save_state(msgspec.structs.replace(run.state(), best_version=1, ended="iterations_done"))
    for name, text in report_texts(run, read_run(run)).items():
        run.write_text(run.root / name, text)


def test_every_report_is_there_and_the_final_gate_agrees(ended):
    for name in RUN_REPORTS:
        assert (ended.run.root / name).stat().st_size > 200
    assert check_version(ended.run, 1, final=True) == ()


@pytest.mark.parametrize("name", sorted(RUN_REPORTS))
def test_any_number_edited_in_a_report_is_refused_with_its_line(ended, name):
    path = ended.run.root / name
    text = path.read_text()
    place = [m for m in re.finditer(r"\d+\.\d+", text) if "0.0001" not in m[0]][-1]
    path.write_text(text[: place.start()] + "7.77" + text[place.end() :])
    found = [r for r in check_version(ended.run, 1, final=True) if r.rule == "reports"]
    line = text[: place.start()].count("\n") + 1
    assert [row.where for row in found] == [f"{name}:{line}"]
    assert "7.77" in found[0].message


def test_an_edited_benchmark_is_refused(ended):
    path = ended.run.paths.benchmark_data
    path.write_text(re.sub(r'"ratio": [\d.]+', '"ratio": 9.5', path.read_text(), count=1))
    rules = {r.rule for r in check_version(ended.run, 1, final=True)}
    assert {"numbers", "reports"} & rules


def test_remarks_below_the_mark_are_kept_and_left_alone(ended):
    run = ended.run
    path = run.paths.summary
    path.write_text(path.read_text() + "\nI would try split-K next.\n")
    assert check_version(run, 1, final=True) == ()
    again = report_texts(run, read_run(run))["summary.md"]
    assert again.rstrip().endswith("I would try split-K next.")


def test_reports_of_before_an_extension_do_not_stand_in_the_way(ended):
    ended.passed(1)
    ended.version(2, text=ended.sources[1] + "# again\n")
    state = ended.run.state()
    entry = msgspec.structs.replace(state.version(2), tries=1)
    ended.run.save_state(msgspec.structs.replace(state, versions=(*state.versions[:2], entry)))
    found = [r for r in check_version(ended.run, 2, final=True) if r.rule == "reports"]
    assert found == []
    path = ended.run.paths.final_report
    path.write_text(path.read_text().replace("v1", "v9", 1))
    found = [r for r in check_version(ended.run, 2, final=True) if r.rule == "reports"]
    assert len(found) == 1


def test_reports_of_before_an_order_do_not_stand_in_the_way(ended):
    run = ended.run
    run.journal.append("order", order={"kind": "extend", "iterations": 1})
    run.save_state(msgspec.structs.replace(run.state(), ended=""))
    assert [r for r in check_version(run, 1, final=True) if r.rule == "reports"] == []
    path = run.paths.summary
    path.write_text(path.read_text().replace("v1", "v9", 1))
    assert [r for r in check_version(run, 1, final=True) if r.rule == "reports"]


def test_an_order_given_before_the_reports_were_written_does_not_end_the_run_at_the_gate(ended):
    run = ended.run
    run.journal.append("order", order={"kind": "set", "changes": {"gpu_seconds": 6}})
    for name, text in report_texts(run, read_run(run)).items():
        run.write_text(run.root / name, text)
    run.save_state(msgspec.structs.replace(run.state(), ended=""))
    assert [r for r in check_version(run, 1, final=True) if r.rule == "reports"] == []
    path = run.paths.summary
    path.write_text(path.read_text().replace("v1", "v9", 1))
    assert [r for r in check_version(run, 1, final=True) if r.rule == "reports"]


def test_headline_and_retrospective(ended):
    summary = ended.run.paths.summary.read_text()
    assert "best correct version: v1" in summary
    assert re.search(r"against v0: 1\.\d+× \[.*\], faster", summary)
    assert re.search(r"best library: pytorch-eager", summary)
    assert "paid: vectorized_access (v1)" in summary
    final = ended.run.paths.final_report.read_text()
    assert "v0 to v1" in final
    assert "vectorized_access effective" in final
    assert "not tried" in final, "the hypothesis that leaves the last version"


def test_nothing_is_reported_before_it_was_measured(made_again):
    texts = report_texts(made_again.run, read_run(made_again.run))
    assert set(texts) == {"baseline_report.md"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.outside, self.svgs = [], [], 0

    def handle_starttag(self, tag, attrs):
        self.svgs += tag == "svg"
        if tag not in ("meta", "br", "hr"):
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href") or tag in ("script", "link", "iframe"):
                self.outside.append((tag, name, value))

    def handle_startendtag(self, tag, attrs):
        del tag, attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_loads_nothing(ended):
    state = ended.run.state()
    view = msgspec.structs.replace(
        read_run(ended.run), state=msgspec.structs.replace(state, name="<script>alert(1)</script>")
    )
    page = Page()
    text = run_page(view)
    page.feed(text)
    assert page.open == []
    assert page.outside == []
    assert page.svgs >= 5
    assert "<script>" not in text


def test_a_host_says_on_every_page_that_it_is_no_gpu(tmp_path):
    builder = Builder(tmp_path / "run", device_kind="host", mode="counter-free")
    builder.version(0)
    builder.passed(0)
    builder.version(1)
    finish(builder)
    for text in report_texts(builder.run, read_run(builder.run)).values():
        if text.startswith(("# Benchmark", "# Final")):
            assert "no figure here is a GPU" in text
    assert "no figure here is a GPU" in run_page(read_run(builder.run))


def test_test_kernel_stands_alone(made_again):
    run = made_again.run
    (run.root / "v1/wrong.py").write_text(made_again.sources[0].replace("* 2", "* 3"))
    for argument, code, word in (("v0", 0, "PASS"), ("v1/wrong.py", 1, "FAIL"), ("v9", 2, "")):
        done = subprocess.run(
            [sys.executable, "-I", str(run.paths.test_kernel), argument],
            capture_output=True, text=True, check=False, cwd=run.root, timeout=120,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        assert done.stdout.strip().endswith(word)
        assert code == 2 or "max rel_err" in done.stdout
    script = run.paths.test_kernel.read_text()
    assert "kbs" not in "".join(re.findall(r"^import.*$", script, re.MULTILINE))


def test_the_script_takes_the_settings(made_again):
    settings = Settings(language="cuda-cpp", dims={"M": 8}, kernel_suffix=".cu", ptr_size=64)
    script = standalone_test(settings, made_again.run.read(
        made_again.paths(0).bench, type(read_run(made_again.run).versions[0].bench)
    ).checked())  # fmt: skip
    assert "SUFFIX = '.cu'\nDIMS = {'M': 8}\nATOL = 0.0001\nRTOL = 0.001\n" in script
    compile(script, "test_kernel.py", "exec")


def test_the_readme_says_tbd_where_nobody_knows_and_marks_placeholders(made_again):
    state = made_again.run.state()
    text = workspace_readme(state)
    for title in ("Task Context", "Hardware Spec", "Roofline", "Stop Conditions",
                  "ISA Optimization Targets"):  # fmt: skip
        assert f"## {title}" in text
    assert text.count("TBD") >= 5
    settings = msgspec.structs.replace(
        state.settings,
        placeholders=(Placeholder(metric="memory_bandwidth", value=3.0, unit="TB/s"),),
        target=Target(kind="time", value=61_000.0, unit="ns", because="given"),
    )
    text = workspace_readme(msgspec.structs.replace(state, settings=settings))
    assert "memory_bandwidth: 3 TB/s (PLACEHOLDER, given by the user)" in text
    assert "kernel time at most 61 µs; given" in text


def test_a_real_report_becomes_summary_details_and_top(report, store):
    from kbs_ingest.readers import read_report

    profiles = read_report(report, store.metric_map("nvidia")).profiles[:2]
    summary = ncu_summary(1, profiles)
    assert profiles[0].name[:20] in summary
    details = ncu_details(1, profiles)
    assert "| dram_pct |" in details
    top = ncu_top(1, "0" * 64, profiles, ncu_num=3)
    assert top.mode == "counters"
    assert {axis: len(rows) for axis, rows in top.axes.items()} == {
        "memory": 3, "compute": 3, "latency": 3,
    }  # fmt: skip
    assert "Nothing" not in ncu_summary(1, ()) or "nothing was profiled" in ncu_summary(1, ())


def test_env_check_tells_what_is_missing():
    env = Env(
        date="2025-01-01",
        findings=(EnvFinding(part="ncu", state="missing", costs="counters", required=True),),
    )
    assert "Verdict: FAIL" in env_check(env)


def test_analysis_lists_branches_and_methods(run_at):
    with RunFolder.open(run_at) as run:
        view = read_run(run)
    text = analysis(view.version(1), view.version(0))
    assert "| b1 |" in text
    assert "| vectorized_access | confirmed | helps |" in text
