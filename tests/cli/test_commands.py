"""Commands as a person or a program calls them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kbs.cli import COMMANDS, cli
from tests.conftest import ROOT

DOCS = (ROOT / "docs/cli.md").read_text(encoding="utf-8")


def test_help_lists_every_command_without_importing_heavy_packages():
    code = (
        "import sys\nfrom kbs.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'lancedb', 'duckdb', 'sentence_transformers', 'rich', 'pyarrow'}\n"
        "sys.exit(len(heavy & set(sys.modules)))"
    )
    path = ":".join(str(ROOT / part) for part in ("", "engine", "ingest", "backends"))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": path, "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for name, short in COMMANDS.items():
        assert name in done.stdout
        assert short.split()[0] in done.stdout


def with_subcommands(name):
    command = cli.get_command(None, name)
    return [command, *getattr(command, "commands", {}).values()]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_an_example_json_and_documentation(name):
    for command in with_subcommands(name):
        assert command.epilog.startswith("Example: kbs ")
        assert any("--json" in option.opts for option in command.params)
    assert f"## kbs {name}\n" in DOCS


def test_documentation_names_no_command_that_is_not_there():
    documented = {line[7:].strip() for line in DOCS.splitlines() if line.startswith("## kbs ")}
    assert documented == set(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_documented(name):
    section = DOCS.split(f"## kbs {name}\n")[1].split("\n## ")[0]
    for parameter in (part for command in with_subcommands(name) for part in command.params):
        for option in getattr(parameter, "opts", []):
            if option.startswith("--") and option != "--json":
                assert f"{option}" in section, f"{option} of {name}"


def test_specs_by_the_name_that_nvidia_smi_prints(kbs):
    ran = kbs("specs", "NVIDIA H100 80GB HBM3", "memory_bandwidth")
    assert ran.code == 0
    line = (
        "NVIDIA H100 SXM5 80GB HBM3 bandwidth: 3.35 TB/s <- gpu-wiki/hardware/nvidia/h100_sxm.md:L"
    )
    assert line in ran.out
    assert kbs("specs", "h100_sxm", "memory_bandwidth").out == ran.out


def test_a_citation_names_the_line_that_states_the_value(kbs):
    ran = kbs("specs", "h100_sxm", "--json")
    wiki = ROOT / "gpu-wiki"
    checked = 0
    for row in ran.json["specs"]:
        if row["value"] is None:
            continue
        path, _, line = row["citation"].rpartition("<- gpu-wiki/")[2].rpartition(":L")
        text = (wiki / path).read_text(encoding="utf-8").splitlines()[int(line) - 1]
        assert f"`{row['metric']}`" in text
        shown = f"{row['value']:.12g}" if isinstance(row["value"], float) else row["value"]
        assert shown in text.replace(".0 |", " |")
        checked += 1
    assert checked > 20


def test_a_metric_that_the_wiki_lacks_is_unknown_and_no_failure(kbs):
    ran = kbs("specs", "h100_sxm", "peak_fp4_tensor")
    assert ran.code == 0
    assert "UNKNOWN (gpu-wiki not found)" in ran.out
    ran = kbs("specs", "h100_sxm", "no_such_metric", "--json")
    assert ran.code == 0
    assert ran.json["specs"][0]["value"] is None
    assert ran.json["specs"][0]["citation"].endswith("no_such_metric: UNKNOWN (gpu-wiki not found)")


@pytest.mark.parametrize("name", ["H999", "NVIDIA H100 96GB HBM7", "", "h100_sxm; drop table"])
def test_a_chip_nobody_knows_is_refused_never_approximated(kbs, name):
    ran = kbs("specs", name)
    assert ran.code == 1
    assert ran.out == ""
    assert "TB/s" not in ran.err


def test_an_ambiguous_name_is_refused_with_its_candidates(kbs):
    ran = kbs("specs", "H100", "--json")
    assert ran.code == 1
    assert ran.out == ""
    assert "h100_sxm" in ran.err
    assert "h100_pcie" in ran.err


def test_query_cites_and_filters(kbs):
    ran = kbs("query", "bank conflicts in a shared memory transpose", "--kind", "method", "--json")
    assert ran.code == 0, ran.err
    rows = ran.json["results"]
    assert rows
    assert {row["kind"] for row in rows} == {"method"}
    assert any("smem_" in row["path"] or "transpose" in row["path"] for row in rows[:5])
    for row in rows:
        assert {"kind", "title", "path", "line", "score", "text"} <= set(row)
        assert (ROOT / "gpu-wiki" / row["path"]).is_file()


def test_roofline_of_a_task_without_a_report(kbs):
    ran = kbs(
        "roofline", "--chip", "h100_sxm", "--kernel", "gemm", "--dtype", "bf16",
        "--flops", "137438953472", "--bytes-in", "67108864", "--bytes-out", "33554432", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    line = ran.json["kernels"][0]["roofline"]
    assert line["algorithm_bound"] == "compute"
    assert {r["metric"] for r in line["roofs"] if r["basis"] == "cited"} == {
        "memory_bandwidth", "peak_bf16_tensor",
    }  # fmt: skip


def test_recommend_without_a_report(kbs):
    ran = kbs("recommend", "--symptom", "shared_bank_conflicts", "--language", "cuda-cpp", "--json")
    assert ran.code == 0, ran.err
    kernel = ran.json["kernels"][0]
    assert kernel["recommendations"][0]["method"] in ("smem_padding", "smem_swizzle")
    assert any("assumed" in flag for flag in kernel["flags"])
    ran = kbs(
        "recommend", "--kernel", "softmax", "--language", "triton", "--chip", "h100_sxm",
        "--limiter", "dram", "--json",
    )  # fmt: skip
    top = [row["method"] for row in ran.json["kernels"][0]["recommendations"][:5]]
    assert {"single_pass_algorithm", "row_in_registers", "kernel_fusion"} & set(top)


def test_recommend_for_nothing_asks_for_something(kbs):
    ran = kbs("recommend", "--json")
    assert ran.code == 2
    assert "--symptom" in ran.error["remedy"]


def test_doctor_says_what_is_missing_and_what_it_costs(kbs):
    ran = kbs("doctor", "--json")
    assert ran.code == 0, ran.err
    parts = {row["part"]: row for row in ran.json["findings"]}
    assert parts["wiki"]["state"] == "ok"
    assert parts["index"]["state"] == "ok"
    for row in parts.values():
        assert row["state"] == "ok" or (row["costs"] and row["detail"])


def test_doctor_is_not_ready_without_an_index(kbs, tmp_path):
    ran = kbs("doctor", "--json", at=tmp_path)
    assert ran.code == 1
    assert not ran.json["ready"]


def test_output_into_a_closed_pipe_is_no_traceback(kbs, home):
    path = ":".join(str(ROOT / part) for part in ("", "engine", "ingest", "backends"))
    done = subprocess.run(
        f"{sys.executable} -m kbs --home {home} specs h100_sxm --all | head -1",
        shell=True, capture_output=True, text=True, check=False, env={"PYTHONPATH": path,
        "PATH": "/usr/bin:/bin"}, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_json_switch_works_before_and_after_the_command(kbs):
    before, after = kbs("--json", "specs", "l4"), kbs("specs", "l4", "--json")
    assert before.json == after.json


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["specs"],
        ["recommend", "--limiter", "nonsense"],
        ["query", "x", "--limit", "0"],
        ["recommend", "--symptom", "no_such_symptom"],
        ["recommend", "--symptom", "tail_effect", "--have", "no_such_method"],
        ["recommend", "--symptom", "tail_effect", "--as-of", "yesterday"],
        ["--wiki", "/no/such/folder", "ingest"],
        ["diagnose", "x.ncu-rep", "--launch", "one"],
    ],
)
def test_wrong_usage_is_exit_2_with_a_remedy(kbs, arguments):
    ran = kbs(*arguments, "--json")
    assert ran.code == 2
    assert ran.out == ""
    assert ran.error["message"]
    assert ran.error["remedy"]
