"""Pages that contradict themselves: each plant on a copy of the shipped wiki is found."""

from __future__ import annotations

import os
import re
import shutil

import pytest

from kbs_ingest.wikicheck import check_wiki
from tests.conftest import WIKI
from tests.thinned import thinned

pytestmark = pytest.mark.slow

SXM = "hardware/nvidia/h100_sxm.md"
PCIE = "hardware/nvidia/h100_pcie.md"
MI250X = "hardware/amd/mi250x.md"
MI300X = "hardware/amd/mi300x.md"
SIGNATURE = "signatures/async_copy.yaml"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("contradicted") / "gpu-wiki"
    shutil.copytree(WIKI, folder)
    return folder


def swap(old, new):
    def edit(text):
        assert old in text, old
        return text.replace(old, new, 1)

    return edit


def cell(metric, basis, value):
    """Replace the value of the first row of ``metric`` whose rest holds ``basis``."""

    def edit(text):
        pattern = rf"(\| `{metric}` [^|\n]*\| )[^|\n]+( \|[^\n]*{basis})"
        assert re.search(pattern, text), pattern
        return re.sub(pattern, rf"\g<1>{value}\2", text, count=1)

    return edit


def errors(copy, relative, edit):
    path = copy / relative
    before = path.read_bytes()
    after = edit(before.decode())
    path.write_text(after, encoding="utf-8")
    try:
        found = [f for f in check_wiki([copy]).faults if f.severity == "error"]
    finally:
        path.write_bytes(before)
    return found, after.split("\n")


@pytest.mark.parametrize(
    ("check", "relative", "edit", "mark"),
    thinned([
        ("basis_clock", SXM, cell("clock_boost", "MHz", "1890"), "| 1890 |"),
        ("basis_clock", SXM, cell("tensor_clock", "MHz", "1755"), "| 1755 |"),
        ("basis_clock", PCIE, cell("clock_boost", "MHz", "1980"), "`clock_boost`"),
        ("sibling_value", PCIE, cell("memory_bandwidth", "TB/s", "3.35"), "| 3.35 |"),
        ("sibling_value", PCIE, cell("tdp", "W", "700"), "`tdp`"),
        ("sibling_value", PCIE, cell("memory_type", "", "HBM3"), "`memory_type`"),
        ("memory_words", SXM, cell("memory_type", "", "HBM4"), "`memory_type`"),
        ("per_die", MI250X, cell("memory_bandwidth", "per chip", "1638.4"), "per chip"),
        ("per_die", MI250X, cell("memory_capacity", "per chip", "64"), "per chip"),
        ("per_die", MI250X, cell("l2_size", "per chip", "32"), "per chip"),
        ("peak_arithmetic", SXM, cell("unit_count", "per chip", "66"), "`unit_count`"),
        ("peak_arithmetic", MI300X, cell("unit_count", "per chip", "152"), "`unit_count`"),
        ("identity", SXM, swap("inherits: cc_9_0", "inherits: cc_8_0"), "inherits:"),
        ("identity", MI300X, swap("inherits: gfx942", "inherits: gfx90a"), "inherits:"),
        ("identity", SXM, cell("compute_capability", "", "8.9"), "`compute_capability`"),
        ("identity", MI300X, cell("gfx_target", "", "gfx950"), "`gfx_target`"),
        ("probes", SIGNATURE, swap("async_copy_neg.cu", "async_copy_pos.cu"), "probes:"),
        ("signature_arch", SIGNATURE, swap("[sm_75]", "[sm_77]"), "method:"),
    ]),
)  # fmt: skip
def test_a_contradiction_is_found_at_its_line(copy, check, relative, edit, mark):
    found, lines = errors(copy, relative, edit)
    here = [f for f in found if f.check == check and f.file.endswith(relative)]
    assert here, found
    assert any(mark in lines[f.line - 1] for f in here), here


def test_a_page_in_the_folder_of_another_vendor(copy):
    page = copy / "hardware/amd/l4.md"
    shutil.move(copy / "hardware/nvidia/l4.md", page)
    try:
        found = [f for f in check_wiki([copy]).faults if f.check == "identity"]
        assert [f.file.endswith("hardware/amd/l4.md") for f in found] == [True]
    finally:
        shutil.move(page, copy / "hardware/nvidia/l4.md")


def test_one_wrong_clock_in_one_basis_is_told_at_its_peak(copy):
    def edit(text):
        return re.sub(r"(`peak_fp64` [^\n]*clock )1980", r"\g<1>2010", text, count=1)

    found, lines = errors(copy, SXM, edit)
    assert found
    assert all("`peak_fp64`" in lines[f.line - 1] for f in found)


def test_a_halved_unit_count_is_told_once_with_the_count_that_fits(copy):
    found, _ = errors(copy, SXM, cell("unit_count", "per chip", "66"))
    assert [f.check for f in found] == ["peak_arithmetic"]
    assert "about 132 units" in found[0].message
    assert "sparse" not in found[0].remedy


def test_a_name_of_another_part_is_told_at_the_aliases_and_says_where_the_other_is(copy):
    found, lines = errors(copy, PCIE, swap("aliases: [", "aliases: [NVIDIA H100 80GB HBM3, "))
    assert {f.check for f in found} == {"duplicate_alias"}
    assert all(lines[f.line - 1].startswith("aliases:") or "h100_sxm" in f.file for f in found)
    assert all(re.search(r"aliases at .*h100_\w+\.md:\d+", f.message) for f in found)
    found, lines = errors(copy, PCIE, swap("aliases: [", "aliases: [h100_sxm, "))
    assert [(f.file.endswith(PCIE), lines[f.line - 1][:8]) for f in found] == [(True, "aliases:")]


def test_an_opcode_that_no_list_names_is_a_warning(copy):
    path = copy / SIGNATURE
    before = path.read_bytes()
    path.write_text(before.decode().replace("opcode: LDGDEPBAR", "opcode: LDGDEPBAX"))
    try:
        report = check_wiki([copy])
    finally:
        path.write_bytes(before)
    told = [f for f in report.faults if f.check == "opcode"]
    assert [(f.severity, "LDGDEPBAX" in f.message) for f in told] == [("warning", True)]
    assert "LDGDEPBAR" in told[0].remedy
    assert report.clean


def test_a_pipe_in_a_wiki_is_refused_and_does_not_hang(tmp_path):
    folder = tmp_path / "team/hardware"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "pipe.md")
    (folder / "link.md").symlink_to(folder / "pipe.md")
    faults = [f for f in check_wiki([WIKI, tmp_path / "team"]).faults if f.severity == "error"]
    assert {f.message.split(" (")[0] for f in faults} == {"is no regular file"}
    assert len(faults) == 2


def test_new_bounds_its_name_and_says_what_it_shadows(kbs, tmp_path):
    team = tmp_path / "team"
    team.mkdir()
    long = kbs("wiki", "new", "method", "a" * 300, "--dir", team)
    assert long.code == 2
    assert "300 characters" in long.err
    made = kbs("wiki", "new", "hardware", "h100_sxm", "--dir", team)
    assert made.code == 0
    assert "replaces" in made.err
    assert "h100_sxm.md" in made.err
    plain = kbs("wiki", "new", "hardware", "my_part", "--dir", team, "--json")
    assert plain.json["shadows"] is None
