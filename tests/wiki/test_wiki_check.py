"""`kbs wiki check`: the shipped wiki is clean, and one planted fault is found at its line."""

from __future__ import annotations

import re
import shutil
from contextlib import contextmanager

import pytest

from kbs_engine.errors import UsageError
from kbs_ingest.wikicheck import check_wiki, scaffold
from tests.conftest import WIKI
from tests.thinned import thinned

pytestmark = pytest.mark.slow

SXM = "hardware/nvidia/h100_sxm.md"
PCIE = "hardware/nvidia/h100_pcie.md"
NVL = "hardware/nvidia/h100_nvl.md"
H20 = "hardware/nvidia/h20.md"
B300 = "hardware/nvidia/b300.md"
LIMITS = "hardware/nvidia/cc_9_0.md"
METHOD = "methods/memory/coalesced_access.md"
SIGNATURE = "signatures/async_copy.yaml"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the shipped wiki, put right again after every plant."""
    folder = tmp_path_factory.mktemp("planted") / "gpu-wiki"
    shutil.copytree(WIKI, folder)
    return folder


@contextmanager
def planted(copy, relative, edit):
    """Change one file; yields its lines as planted."""
    path = copy / relative
    before = path.read_bytes()
    text = before.decode()
    after = edit(text)
    assert after != text, "the plant changed nothing"
    path.write_text(after, encoding="utf-8")
    try:
        yield after.split("\n")
    finally:
        path.write_bytes(before)


def row(metric, density="", value=None):
    """A replacer for the value cell of the first row of ``metric`` under Specs."""

    def edit(text):
        pattern = rf"(\| `{metric}` [^|\n]*\| )([^|\n]+)( \|[^\n]*{density}[^\n]*)"
        return re.sub(pattern, lambda found: found[1] + value + found[3], text, count=1)

    return edit


def line_of(lines, *parts):
    return next(n for n, line in enumerate(lines, 1) if all(part in line for part in parts))


def found(copy, check, relative):
    """Lines of the errors of one check in one file; no other file may have an error."""
    faults = [f for f in check_wiki([copy]).faults if f.severity == "error"]
    assert faults
    elsewhere = [f for f in faults if not f.file.endswith(relative)]
    assert not elsewhere, elsewhere
    assert {f.check for f in faults} == {check}, faults
    return [f.line for f in faults]


def test_the_shipped_wiki_is_clean():
    report = check_wiki([WIKI])
    assert [str(f) for f in report.faults if f.severity == "error"] == []
    assert report.clean
    assert report.checked["peaks_by_arithmetic"] > 200
    assert report.checked["chips"] >= 39


@pytest.mark.parametrize(
    ("check", "relative", "edit", "marks"),
    thinned([
        ("sparse_as_dense", SXM, row("peak_bf16_tensor", "dense", "1978.9"),
         ("`peak_bf16_tensor`", "dense")),
        ("sparse_as_dense", SXM, row("peak_fp16_tensor", "dense", "1979"),
         ("`peak_fp16_tensor`", "dense")),
        ("sibling_value", PCIE, row("peak_fp16_tensor", "dense", "989.4"),
         ("`peak_fp16_tensor`", "dense")),
        ("sibling_value", PCIE, row("peak_fp32", "dense", "67"), ("`peak_fp32`",)),
        ("peak_arithmetic", SXM, row("peak_fp32", "dense", "75"), ("`peak_fp32`",)),
        ("dense_sparse_ratio", SXM, row("peak_fp8_tensor", "sparse", "4100"),
         ("`peak_fp8_tensor`", "sparse")),
        ("source_missing", SXM,
         lambda t: t.replace("| 3.35 | TB/s | per chip | [spec1] product page (B) |",
                             "| 3.35 | TB/s | per chip | product page (B) |"),
         ("`memory_bandwidth`", "3.35 |")),
        ("source_key", SXM,
         lambda t: t.replace("| 3.35 | TB/s | per chip | [spec1] ",
                             "| 3.35 | TB/s | per chip | [nowhere] "),
         ("[nowhere]",)),
        ("duplicate_alias", SXM, lambda t: t.replace("aliases: [", "aliases: [NVIDIA H100 PCIe, "),
         ("aliases:",)),
        ("grade_d_in_specs", SXM,
         lambda t: t.replace("| 50 | MB | per chip | [hopblog] Table 3 (A) |",
                             "| 50 | MB | per chip | [hopblog] Table 3 (D) |"),
         ("`l2_size`",)),
        ("disagreement_reason", SXM,
         lambda t: t.replace("| rounded by a database |", "|  |"), ("| 3.36 |",)),
        ("citation", "README.md",
         lambda t: t.replace("h100_sxm.md:L34", "no_such_page.md:L34"), ("no_such_page",)),
        ("citation", METHOD,
         lambda t: f"{t}\nSee gpu-wiki/hardware/nvidia/h100_sxm.md:L9999.\n", ("L9999",)),
        ("citation", METHOD,
         lambda t: f"{t}\nH100 SXM HBM3 bandwidth: 2.0 TB/s <- gpu-wiki/{SXM}:L34\n",
         ("2.0 TB/s <-",)),
        ("citation", METHOD, lambda t: f"{t}\nsee gpu-wiki/../../etc/passwd:L1\n", ("passwd",)),
        ("link", METHOD, lambda t: f"{t}\n[lost](no_such_page.md)\n", ("[lost]",)),
        ("link", METHOD, lambda t: f"{t}\n[out](../../../../etc/passwd)\n", ("[out]",)),
        ("link", METHOD, lambda t: f"{t}\n[root](/etc/passwd)\n", ("[root]",)),
        ("probes", SIGNATURE,
         lambda t: t[: t.index("probes:")], ("method:",)),
        ("probes", SIGNATURE,
         lambda t: t.replace("async_copy_neg.cu", "nowhere_neg.cu"), ("probes:",)),
        ("signature_link", "methods/memory/async_copy.md",
         lambda t: re.sub(r"^signature: .*$", "signature: null", t, flags=re.MULTILINE),
         ("signature: null",)),
        ("source_title", SXM,
         lambda t: t.replace("- [ccpage] NVIDIA", "- [ccpage] <> \n- [other] NVIDIA"),
         ("[ccpage] <>",)),
        ("code_block", METHOD, lambda t: re.sub(r"```cuda\n.*?```", "Words.", t, flags=re.DOTALL),
         ("### CUDA C++",)),
        ("exception_row", H20,
         lambda t: re.sub(r"(\| `peak_arithmetic` \| `)peak_fp64(` )", r"\1peak_fp128\2", t,
                          count=1),
         ("peak_fp128",)),
    ]),
)  # fmt: skip
def test_one_planted_fault_is_found_at_its_line(copy, check, relative, edit, marks):
    with planted(copy, relative, edit) as lines:
        assert set(found(copy, check, relative)) == {line_of(lines, *marks)}


def test_an_alias_that_another_page_calls_ambiguous(copy):
    with planted(copy, SXM, lambda t: t.replace("aliases: [", "aliases: [H100, ")):
        faults = [f for f in check_wiki([copy]).faults if f.severity == "error"]
    assert faults
    assert {f.check for f in faults} == {"duplicate_alias"}
    assert any(f.file.endswith(PCIE) for f in faults)


def test_a_measured_ceiling_above_the_documented_peak(copy):
    page = copy / "measured/too_good.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(
        "---\nkind: measured\nid: too_good\nchip: h100_sxm\n---\n# Too good\n\n## Measured\n"
        "| Metric | Value | Unit | Basis | Source |\n|---|---|---|---|---|\n"
        "| `memory_bandwidth` copy | 3.41 | TB/s | per chip | [run] a copy (D) |\n"
        "\n## Sources\n- [run] a copy kernel\n"
    )
    try:
        assert found(copy, "measured_ceiling", "too_good.md") == [11]
    finally:
        page.unlink()


@pytest.mark.parametrize(
    ("relative", "metric", "check"),
    [
        (B300, "peak_fp4_tensor", "dense_sparse_ratio"),
        ("hardware/nvidia/h200_sxm.md", "peak_fp16_tensor", "sibling_value"),
        ("hardware/nvidia/a30.md", "peak_tf32_tensor", "dense_sparse_ratio"),
    ],
)
def test_a_sourced_exception_passes_and_its_loss_does_not(copy, relative, metric, check):
    pattern = rf"^\| `\w+` \| `{metric}` \|.*\n"
    lost = lambda t: re.sub(pattern, "", t, flags=re.MULTILINE)  # noqa: E731
    with planted(copy, relative, lost) as lines:
        at = found(copy, check, relative)
        assert all(f"`{metric}`" in lines[line - 1] for line in at)


def test_the_capped_h20_passes_by_its_exception_even_with_the_rate_of_its_limits(copy):
    def uncapped(text):
        text = re.sub(r"^\| `tensor_ops_per_clock_fp16` .*\n", "", text, flags=re.MULTILINE)
        return text.replace(
            "| 148 | TFLOPS | dense; per chip |",
            "| 148 | TFLOPS | dense; per chip; clock 1980 MHz |",
            1,
        )

    with planted(copy, H20, uncapped):
        assert [str(f) for f in check_wiki([copy]).faults if f.severity == "error"] == []
    lost = r"^\| `peak_arithmetic` \| `peak_fp16_tensor` .*\n"
    with planted(copy, H20, lambda t: re.sub(lost, "", uncapped(t), flags=re.MULTILINE)) as lines:
        assert found(copy, "peak_arithmetic", H20) == [line_of(lines, "`peak_fp16_tensor`")]


@pytest.mark.parametrize("column", [3, 4])
def test_an_exception_without_reason_or_source_frees_nothing(copy, column):
    def empty(text):
        lines = text.split("\n")
        for number, line in enumerate(lines):
            if line.startswith("| `dense_sparse_ratio` | `peak_fp4_tensor`"):
                cells = line.split("|")
                cells[column] = "  "
                lines[number] = "|".join(cells)
        return "\n".join(lines)

    with planted(copy, B300, empty):
        checks = {f.check for f in check_wiki([copy]).faults if f.severity == "error"}
    assert "dense_sparse_ratio" in checks


def test_the_exception_of_h100_nvl_carries_its_reason():
    text = (WIKI / NVL).read_text(encoding="utf-8")
    assert re.search(r"`peak_arithmetic` \| `peak_fp16_tensor` \| holds at 1545 MHz", text)
    assert not [f for f in check_wiki([WIKI]).faults if f.file.endswith(NVL)]


def test_the_command_prints_file_and_line_and_exits_1(kbs, copy):
    with planted(copy, SXM, row("peak_bf16_tensor", "dense", "1978.9")) as lines:
        ran = kbs("wiki", "check", copy, "--json")
        line = line_of(lines, "`peak_bf16_tensor`", "dense")
        assert ran.code == 1
        fault = next(f for f in ran.json["faults"] if f["severity"] == "error")
        assert {"file", "line", "check", "message", "remedy"} <= set(fault)
        assert fault["line"] == line
        assert f"h100_sxm.md:{line}: [sparse_as_dense]" in kbs("wiki", "check", copy).out
    assert kbs("wiki", "check", copy).code == 0


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("hardware", "hardware/nvidia/new_one.md"),
        ("method", "methods/memory/new_one.md"),
        ("symptom", "symptoms/new_one.yaml"),
    ],
)
def test_a_new_page_is_refused_only_for_its_holes(copy, kbs, kind, path):
    ran = kbs("wiki", "new", kind, "new_one", "--dir", copy, "--json")
    page = copy / path
    try:
        assert ran.code == 0, ran.err
        report = check_wiki([copy])
        errors = [f for f in report.faults if f.severity == "error"]
        assert {f.check for f in errors} == {"hole"}
        assert {f.line for f in errors} == {hole["line"] for hole in ran.json["holes"]}
        assert all(f.file.endswith(path) for f in errors)
        assert len({hole["hint"] for hole in ran.json["holes"]}) == len(errors)
        before = page.read_bytes()
        assert kbs("wiki", "new", kind, "new_one", "--dir", copy).code == 2
        assert page.read_bytes() == before
    finally:
        page.unlink()


def test_a_new_page_with_another_axis_does_not_shadow_an_old_one(copy):
    with pytest.raises(UsageError, match="exists"):
        scaffold(
            "method", "coalesced_access", copy, vendor="nvidia", axis="latency", language="triton"
        )


@pytest.mark.parametrize("name", ["Bad Name", "../up", "x/y", "", "1st"])
def test_a_name_that_is_no_id_is_refused(copy, name):
    with pytest.raises(UsageError):
        scaffold("method", name, copy, vendor="nvidia", axis="memory", language="triton")


def hostile(tmp_path, relative, data):
    path = tmp_path / "team" / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return [f for f in check_wiki([WIKI, tmp_path / "team"]).faults if f.severity == "error"]


BOMB = b"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n"
RULE = (WIKI / "symptoms/tail_effect.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("relative", "data", "reason"),
    [
        ("symptoms/bomb.yaml", BOMB, "anchor"),
        ("methods/memory/bomb.md", b"---\nkind: method\n" + BOMB + b"---\n# x\n", "anchor"),
        ("symptoms/huge.yaml", b"# " + b"x" * (3 << 20), "bytes, more than"),
        ("symptoms/tag.yaml", b"id: !!python/object/apply:os.system [ls]\n", "tag"),
        ("symptoms/tail_effect.yaml",
         re.sub(r"^when: .*?(?=^severity:)", "when: (SELECT 1 FROM read_csv('/etc/passwd')) > 0\n",
                RULE, flags=re.MULTILINE | re.DOTALL).encode(), "when"),
        ("symptoms/tail_effect.yaml",
         re.sub(r"^when: .*?(?=^severity:)", "when: length(read_text('/etc/passwd')) > 0\n",
                RULE, flags=re.MULTILINE | re.DOTALL).encode(), "when"),
    ],
)  # fmt: skip
def test_hostile_files_are_refused_with_a_reason(tmp_path, relative, data, reason):
    faults = hostile(tmp_path, relative, data)
    assert faults
    assert all(f.file.endswith(relative) for f in faults)
    assert any(reason in f.message for f in faults), faults
    assert "root:" not in str(faults)


def test_a_page_of_200_mb_is_refused_without_being_read(tmp_path):
    path = tmp_path / "team" / "hardware/nvidia/huge.md"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    faults = check_wiki([WIKI, tmp_path / "team"]).faults
    assert any("209715200 bytes" in f.message for f in faults)


def test_links_that_leave_and_links_that_turn_in_circles(tmp_path):
    team = tmp_path / "team" / "hardware"
    team.mkdir(parents=True)
    (team / "passwd.md").symlink_to("/etc/passwd")
    (team / "round.md").symlink_to(team / "round.md")
    (team / "loop").symlink_to(team)
    faults = check_wiki([WIKI, tmp_path / "team"]).faults
    refused = {f.file.rsplit("/", 1)[-1] for f in faults if "link" in f.message}
    assert refused == {"passwd.md", "round.md"}
