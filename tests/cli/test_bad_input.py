"""Bad input: one reason with file and remedy, exit 2, and nothing changed in the store."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.thinned import thinned

PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452") + b"\0" * 200
HEADER = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n'
RAW = '"ID","Process ID","Process Name","Host Name","Kernel Name","gpu__time_duration.sum"\n'


def reports(report: Path) -> dict[str, tuple[str, bytes]]:
    whole = report.read_bytes()
    return {
        "empty": ("empty.ncu-rep", b""),
        "empty csv": ("empty.csv", b""),
        "truncated": ("cut.ncu-rep", whole[: len(whole) // 3]),
        "png": ("picture.ncu-rep", PNG),
        "no header": ("no_header.csv", b'"0","473","python","k","1"\n"1","473","python","k","2"\n'),
        "units row alone": ("units.csv", (RAW + '"","","","","","ns"\n').encode()),
        "no kernels": (
            "none.csv",
            b"==PROF== Connected to process 12\n==WARNING== No kernels were profiled.\n",
        ),
        "no permission": (
            "perm.txt",
            b"==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access counters\n",
        ),
        "text": ("notes.txt", b"hello\nworld\n"),
        "binary": ("noise.bin", bytes(range(256)) * 40),
    }


CASES = sorted(reports(ROOT / "tests/data/reports/h100_triton_torch.ncu-rep"))


@pytest.mark.parametrize("case", CASES)
def test_unreadable_report(kbs, report, tmp_path, case):
    name, content = reports(report)[case]
    path = tmp_path / name
    path.write_bytes(content)
    ran = kbs("recommend", path, "--json")
    assert ran.code == 2
    assert ran.out == ""
    assert name in ran.error["where"]
    assert ran.error["remedy"]
    assert "Traceback" not in ran.err
    if case == "no permission":
        assert "NVreg_RestrictProfilingToAdminUsers" in ran.error["remedy"]


def test_missing_report(kbs, tmp_path):
    ran = kbs("diagnose", tmp_path / "nowhere.ncu-rep", "--json")
    assert ran.code == 2
    assert "nowhere.ncu-rep" in ran.error["where"]


def test_a_folder_is_no_report(kbs, tmp_path):
    ran = kbs("diagnose", tmp_path, "--json")
    assert ran.code == 2
    assert ran.error["remedy"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tag.work.yaml", "chip: !!python/object/apply:os.system ['true']\n"),
        ("negative.work.yaml", "launches:\n  0: {kernel: softmax, bytes_in: -5, bytes_out: 1}\n"),
        ("family.work.yaml", "launches:\n  0: {kernel: nonsense}\n"),
        ("typo.work.yaml", "launches:\n  0: {kernel: softmax, byte_in: 5}\n"),
        ("list.work.yaml", "- 1\n- 2\n"),
    ],
)
def test_bad_work_sidecar(kbs, report, tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    ran = kbs("roofline", report, "--work", path, "--json")
    assert ran.code == 2
    assert name in ran.error["where"]
    assert ran.error["remedy"]


GOOD_PAGE = (ROOT / "gpu-wiki/hardware/nvidia/l4.md").read_text(encoding="utf-8")
RULE = """\
id: {id}
axis: memory
title: A rule
needs: [p.dram_pct]
when: {when}
severity: p.dram_pct / 100
recoverable: p.dram_pct / 100
message: "{{p.dram_pct:.0f}} %"
sources: [{{title: By hand}}]
"""
UNSOURCED = """\
---
kind: hardware
id: odd
name: Odd
vendor: nvidia
architecture: Odd
arch: sm_90a
aliases: [Odd GPU]
---
# Odd

## Specs
| Metric | Value | Unit | Basis | Source |
|---|---|---|---|---|
| `memory_bandwidth` bandwidth | 3 | TB/s | per chip | |
"""
METHOD = (ROOT / "gpu-wiki/methods/memory/smem_padding.md").read_text(encoding="utf-8")


def overlay(folder: Path, case: str) -> str:
    """Write one faulty file below ``folder`` and return its name."""
    files = {
        "broken table": (
            "hardware/nvidia/l4.md",
            GOOD_PAGE.replace("| `tdp`", "| stray | `tdp`", 1),
        ),
        "value without source": (
            "hardware/nvidia/odd.md",
            UNSOURCED,
        ),
        "unsafe yaml": (
            "symptoms/odd_rule.yaml",
            "id: odd_rule\naxis: !!python/name:os.system memory\n",
        ),
        "yaml bomb": (
            "symptoms/odd_rule.yaml",
            "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n",
        ),
        "unknown symptom": (
            "methods/memory/smem_padding.md",
            METHOD.replace("shared_bank_conflicts:", "shared_bank_riots:", 1),
        ),
        "rule reads a file": (
            "symptoms/odd_rule.yaml",
            RULE.format(id="odd_rule", when="(SELECT count(*) FROM read_csv('/etc/passwd')) > 0"),
        ),
        "rule calls a function": (
            "symptoms/odd_rule.yaml",
            RULE.format(id="odd_rule", when="getenv('HOME') = 'x'"),
        ),
        "rule ignores needs": (
            "symptoms/odd_rule.yaml",
            RULE.format(id="odd_rule", when="p.l2_pct > 10"),
        ),
        "duplicate alias": (
            "hardware/nvidia/l4.md",
            GOOD_PAGE.replace("aliases: [", "aliases: [NVIDIA H100 80GB HBM3, ", 1),
        ),
    }
    name, text = files[case]
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path.name


OVERLAYS = [
    "broken table", "value without source", "unsafe yaml", "yaml bomb", "unknown symptom",
    "rule reads a file", "rule calls a function", "rule ignores needs", "duplicate alias",
]  # fmt: skip


@pytest.mark.parametrize("case", thinned(OVERLAYS))
def test_a_faulty_wiki_changes_nothing(kbs, home, tmp_path, case):
    name = overlay(tmp_path / "wiki", case)
    mine = tmp_path / "home"
    shutil.copytree(home, mine)
    before = (mine / "index/CURRENT").read_text()
    ran = kbs("--wiki", tmp_path / "wiki", "ingest", "--embedding-model", "none", "--json", at=mine)
    assert ran.code == 2, ran.out
    assert name in ran.error["where"] + ran.error["message"]
    assert ran.error["remedy"]
    assert (mine / "index/CURRENT").read_text() == before
    assert kbs("specs", "l4", at=mine).code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_home(kbs, tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    ran = kbs("ingest", "--embedding-model", "none", "--json", at=tmp_path / "home")
    assert ran.code == 2
    assert ran.error["remedy"]


def test_a_home_that_is_a_file(kbs, tmp_path):
    path = tmp_path / "home"
    path.write_text("")
    ran = kbs("ingest", "--embedding-model", "none", "--json", at=path)
    assert ran.code == 2
    assert str(path) in ran.err


def test_no_index_yet(kbs, report, tmp_path):
    ran = kbs("recommend", report, "--json", at=tmp_path)
    assert ran.code == 2
    assert "kbs ingest" in ran.error["remedy"] or "ingest" in ran.error["remedy"]


def test_a_store_from_a_newer_version(kbs, home, report, tmp_path):
    mine = tmp_path / "home"
    shutil.copytree(home, mine)
    manifest = next((mine / "index").glob("gen-*/manifest.json"))
    text = manifest.read_text()
    import json

    value = json.loads(text)
    value["schema_version"] += 1000
    manifest.write_text(json.dumps(value))
    ran = kbs("recommend", report, "--json", at=mine)
    assert ran.code == 2
    assert "newer" in ran.error["message"]
    assert ran.error["remedy"]
