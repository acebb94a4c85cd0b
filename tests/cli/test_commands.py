"""Commands as a person or a program calls them."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys

import pytest

from kbs.cli import COMMANDS, cli
from kbs.failures import closed_output_told
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


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_no_option_is_declared_twice(name):
    """Click warns of such a name whenever the command runs."""
    for command in with_subcommands(name):
        names = [one for option in command.params for one in getattr(option, "opts", ())]
        assert len(names) == len(set(names)), command.name


def test_documentation_names_no_command_that_is_not_there():
    documented = {line[7:].strip() for line in DOCS.splitlines() if line.startswith("## kbs ")}
    assert documented == set(COMMANDS)


def documented(name, seen=()):
    """The section of a command, with those to which it points for shared options."""
    section = DOCS.split(f"## kbs {name}\n")[1].split("\n## ")[0]
    pointed = re.findall(r"(?:options as for|the options of) `kbs (\w+)`", section)
    return "\n".join(
        [section, *(documented(one, (*seen, name)) for one in pointed if one not in seen)]
    )


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_documented(name):
    section = documented(name)
    for parameter in (part for command in with_subcommands(name) for part in command.params):
        for option in getattr(parameter, "opts", []):
            hidden = getattr(parameter, "hidden", False)
            if option.startswith("--") and option != "--json" and not hidden:
                assert f"{option}" in section, f"{option} of {name}"


def test_specs_by_the_name_that_nvidia_smi_prints(kbs):
    ran = kbs("specs", "NVIDIA H100 80GB HBM3", "memory_bandwidth")
    assert ran.code == 0
    line = (
        "NVIDIA H100 SXM5 80GB HBM3 bandwidth: 3.35 TB/s <- gpu-wiki/hardware/nvidia/h100_sxm.md:L"
    )
    assert line in ran.out
    assert kbs("specs", "h100_sxm", "memory_bandwidth").out == ran.out


def test_a_citation_names_the_line_that_states_the_value(kbs_here):
    ran = kbs_here("specs", "h100_sxm", "--json")
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


def test_a_metric_that_the_wiki_lacks_is_unknown_and_no_failure(kbs_here):
    ran = kbs_here("specs", "h100_sxm", "peak_fp4_tensor")
    assert ran.code == 0
    assert "UNKNOWN (gpu-wiki not found)" in ran.out
    ran = kbs_here("specs", "h100_sxm", "no_such_metric", "--json")
    assert ran.code == 0
    assert ran.json["specs"][0]["value"] is None
    assert ran.json["specs"][0]["citation"].endswith("no_such_metric: UNKNOWN (gpu-wiki not found)")


@pytest.mark.parametrize("name", ["H999", "NVIDIA H100 96GB HBM7", "", "h100_sxm; drop table"])
def test_a_chip_nobody_knows_is_refused_never_approximated(kbs_here, name):
    ran = kbs_here("specs", name)
    assert ran.code == 1
    assert ran.out == ""
    assert "TB/s" not in ran.err


def test_an_ambiguous_name_is_refused_with_its_candidates(kbs_here):
    ran = kbs_here("specs", "H100", "--json")
    assert ran.code == 1
    assert ran.out == ""
    assert "h100_sxm" in ran.err
    assert "h100_pcie" in ran.err


def test_query_cites_and_filters(kbs_here):
    ran = kbs_here(
        "query", "bank conflicts in a shared memory transpose", "--kind", "method", "--json"
    )
    assert ran.code == 0, ran.err
    rows = ran.json["results"]
    assert rows
    assert {row["kind"] for row in rows} == {"method"}
    assert any("smem_" in row["path"] or "transpose" in row["path"] for row in rows[:5])
    for row in rows:
        assert {"kind", "title", "path", "line", "score", "text"} <= set(row)
        assert (ROOT / "gpu-wiki" / row["path"]).is_file()


def test_roofline_of_a_task_without_a_report(kbs_here):
    ran = kbs_here(
        "roofline", "--chip", "h100_sxm", "--kernel", "gemm", "--dtype", "bf16",
        "--flops", "137438953472", "--bytes-in", "67108864", "--bytes-out", "33554432", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    line = ran.json["kernels"][0]["roofline"]
    assert line["algorithm_bound"] == "compute"
    assert {r["metric"] for r in line["roofs"] if r["basis"] == "cited"} == {
        "memory_bandwidth", "peak_bf16_tensor",
    }  # fmt: skip


def test_recommend_without_a_report(kbs_here):
    ran = kbs_here(
        "recommend", "--symptom", "shared_bank_conflicts", "--language", "cuda-cpp", "--json"
    )
    assert ran.code == 0, ran.err
    kernel = ran.json["kernels"][0]
    assert kernel["recommendations"][0]["method"] in ("smem_padding", "smem_swizzle")
    assert any("assumed" in flag for flag in kernel["flags"])
    ran = kbs_here(
        "recommend", "--kernel", "softmax", "--language", "triton", "--chip", "h100_sxm",
        "--limiter", "dram", "--json",
    )  # fmt: skip
    top = [row["method"] for row in ran.json["kernels"][0]["recommendations"][:5]]
    assert {"single_pass_algorithm", "row_in_registers", "kernel_fusion"} & set(top)


def test_recommend_for_nothing_asks_for_something(kbs_here):
    ran = kbs_here("recommend", "--json")
    assert ran.code == 2
    assert "--symptom" in ran.error["remedy"]


def test_doctor_says_what_is_missing_and_what_it_costs(kbs_here):
    ran = kbs_here("doctor", "--json")
    assert ran.code == 0, ran.err
    parts = {row["part"]: row for row in ran.json["findings"]}
    assert parts["wiki"]["state"] == "ok"
    assert parts["index"]["state"] == "ok"
    for row in parts.values():
        assert row["state"] == "ok" or (row["costs"] and row["detail"])


def test_doctor_is_not_ready_without_an_index(kbs_here, tmp_path):
    ran = kbs_here("doctor", "--json", at=tmp_path)
    assert ran.code == 1
    assert not ran.json["ready"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["loop", "--help"],
        ["specs", "h100_sxm", "--all"],
        ["--json", "specs", "h100_sxm", "--all"],
        ["experience", "stats"],
        ["doctor"],
        ["wiki", "check", "/no/such/folder"],
    ],
    ids=" ".join,
)
def test_output_into_a_closed_pipe_ends_quietly(home, arguments):
    """By click's echo, by rich, by --help, and with an error to tell: all end as by SIGPIPE."""
    path = ":".join(str(ROOT / part) for part in ("", "engine", "ingest", "backends"))
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "kbs", "--home", home, *arguments], stdout=writing,
        stderr=writing if "check" in arguments else subprocess.PIPE,
        check=False, env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin"}, cwd=ROOT,
    )  # fmt: skip
    os.close(writing)
    assert done.returncode == 128 + 13
    assert not done.stderr


def test_a_broken_pipe_of_our_own_is_no_closed_output():
    def to_a_worker():
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    with pytest.raises(BrokenPipeError), closed_output_told():
        to_a_worker()


def test_json_switch_works_before_and_after_the_command(kbs_here):
    before, after = kbs_here("--json", "specs", "l4"), kbs_here("specs", "l4", "--json")
    assert before.json == after.json


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["recommend", "--limiter", "nonsense"],
        ["query", "x", "--limit", "0"],
        ["recommend", "--symptom", "no_such_symptom"],
        ["recommend", "--symptom", "tail_effect", "--have", "no_such_method"],
        ["recommend", "--symptom", "tail_effect", "--as-of", "yesterday"],
        ["--wiki", "/no/such/folder", "ingest"],
        ["diagnose", "x.ncu-rep", "--launch", "one"],
    ],
)
def test_wrong_usage_is_exit_2_with_a_remedy(kbs_here, arguments):
    ran = kbs_here(*arguments, "--json")
    assert ran.code == 2
    assert ran.out == ""
    assert ran.error["message"]
    assert ran.error["remedy"]


@pytest.mark.parametrize("place", ["before", "after"])
def test_global_options_stand_before_or_after_the_command(kbs_here, home, place):
    options = ["--home", home, "-v"]
    words = [*options, "specs", "l4"] if place == "before" else ["specs", "l4", *options]
    ran = kbs_here(*words)
    assert ran.code == 0, ran.err


def test_specs_alone_lists_every_gpu(kbs_here, store):
    ran = kbs_here("specs", "--json")
    assert {row["id"] for row in ran.json["gpus"]} == {chip.id for chip in store.chips()}


@pytest.mark.parametrize(
    ("arguments", "absent", "note"),
    [
        (["--chip", "h200_sxm", "--kernel", "gemm", "--dtype", "fp32", "--permitted", "tf32"],
         "TFLOP/s", "peak_tf32_tensor of h200_sxm: UNKNOWN"),
        (["--chip", "t4", "--kernel", "gemm", "--dtype", "bf16"], "BF16", "no bf16 matrix unit"),
        (["--chip", "h100_sxm", "--dtype", "bf16"], "989", "--kernel gemm"),
        (["--chip", "mi250x", "--kernel", "gemm", "--dtype", "bf16"], "383 T", "two devices"),
        (["--chip", "h100_sxm", "--bytes-in", "1e9"], "memory roof 3", "only bytes in are known"),
    ],
)  # fmt: skip
def test_a_peak_that_the_wiki_lacks_is_never_replaced_in_silence(kbs_here, arguments, absent, note):
    ran = kbs_here("roofline", *arguments, "--flops", "1e12")
    assert ran.code == 0, ran.err
    assert note in ran.out
    assert absent not in ran.out


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "1e999"])
def test_work_is_a_finite_number(kbs_here, value):
    ran = kbs_here("roofline", "--chip", "l4", "--flops", value, "--dtype", "fp32", "--json")
    assert ran.code == 2
    assert ran.error["remedy"]


def test_a_precision_that_the_task_forbids_is_not_advised(kbs_here):
    told = ["recommend", "--symptom", "tensor_cores_idle", "--chip", "rtx_4090", "--kernel", "gemm",
            "--dtype", "fp32", "--json"]  # fmt: skip
    strict = kbs_here(*told, "--permitted", "fp32").json["kernels"][0]
    loose = kbs_here(*told, "--permitted", "fp32", "--permitted", "tf32").json["kernels"][0]
    assert {"method": "tf32_precision", "filter": "precision"}.items() <= next(
        row for row in strict["filtered"] if row["method"] == "tf32_precision"
    ).items()
    assert "tf32_precision" in [row["method"] for row in loose["recommendations"]]


@pytest.mark.parametrize(
    ("chip", "language"), [("mi300x", "cuda-cpp"), ("h100_sxm", "hip"), ("mi300x", "cutlass")]
)
def test_a_language_that_the_chip_cannot_run_is_refused(kbs_here, chip, language):
    ran = kbs_here("recommend", "--symptom", "tail_effect", "--chip", chip, "--language", language,
              "--json")  # fmt: skip
    assert ran.code == 2
    assert language in ran.error["message"]


def test_impossible_work_is_doubted_not_explained_away(kbs_here, report, tmp_path):
    path = tmp_path / "wrong.work.yaml"
    path.write_text(
        "launches:\n  4: {kernel: gemm, dtype: bf16, permitted: [bf16], flops: 1.374e13,\n"
        "      bytes_in: 67108864, bytes_out: 33554432}\n"
        "  2: {kernel: normalization, dtype: bf16, bytes_in: 268435456, bytes_out: 268435456}\n"
    )
    for launch in ("2", "4"):
        kernel = kbs_here("diagnose", report, "--work", path, "--launch", launch, "--json").json[
            "kernels"
        ][0]
        assert not kernel["near_peak"]
        assert any("the sidecar" in flag for flag in kernel["flags"])
        waiting = {row["id"] for row in kernel["not_measurable"]}
        assert "excess_dram_traffic" in waiting  # nothing rests on doubted work
        assert kernel["roofline"]["gap"] is None


def test_a_chip_that_contradicts_the_report_is_told(kbs_here, report):
    kernel = kbs_here(
        "diagnose", report, "--launch", "4", "--chip", "a100_sxm_80gb", "--json"
    ).json["kernels"][0]
    assert any("overrides h100_sxm" in flag for flag in kernel["flags"])


def test_a_sidecar_for_other_launches_is_told(kbs_here, report, tmp_path):
    path = tmp_path / "other.work.yaml"
    path.write_text("launches:\n  99: {kernel: softmax, bytes_in: 1, bytes_out: 1}\n")
    ran = kbs_here("roofline", report, "--work", path)
    assert "99" in ran.err


def test_output_that_cannot_be_written_is_an_error_with_a_remedy(home):
    path = ":".join(str(ROOT / part) for part in ("", "engine", "ingest", "backends"))
    env = {"PYTHONPATH": path, "PATH": "/usr/bin:/bin"}
    full = subprocess.run(
        f"{sys.executable} -m kbs --home {home} specs h100_sxm --all > /dev/full",
        shell=True, capture_output=True, text=True, check=False, env=env, cwd=ROOT,
    )  # fmt: skip
    assert full.returncode == 2
    assert "cannot write" in full.stderr
    closed = subprocess.run(
        f"{sys.executable} -m kbs --home {home} specs h100_sxm >&-",
        shell=True, capture_output=True, text=True, check=False, env=env, cwd=ROOT,
    )  # fmt: skip
    assert "bug in kbs" not in closed.stderr
    ascii_only = subprocess.run(
        [sys.executable, "-m", "kbs", "--home", str(home), "specs", "h100_sxm"],
        capture_output=True, text=True, check=False, cwd=ROOT,
        env={**env, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
    )  # fmt: skip
    assert ascii_only.returncode == 0, ascii_only.stderr


def test_doctor_restores_clocks_that_a_killed_run_left_locked(kbs, tmp_path):
    log, program = tmp_path / "smi.log", tmp_path / "bin" / "nvidia-smi"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> {log}\n')
    program.chmod(0o755)
    lease = tmp_path / "clock-leases" / "gpu0.json"
    lease.parent.mkdir()
    lease.write_text('{"gpu":0,"sm_clock_mhz":900,"pid":1,"started":"0","since":""}')
    ran = kbs("doctor", at=tmp_path, env={"PATH": f"{program.parent}:{os.environ['PATH']}"})
    assert "1 left by killed runs, restored" in ran.out
    assert "--reset-gpu-clocks" in log.read_text()
    assert not lease.exists()
