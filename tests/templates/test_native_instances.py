"""CUDA and CUTLASS templates, written out under foreign names, compile with every switch."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch

from kbs_backends.templates import OPS, Match, arguments_of, instantiate
from kbs_ingest.wiki.examples import load_templates
from tests.conftest import WIKI

DIMS = {"M": 512, "N": 512, "K": 64, "B": 16, "D": 64}
TEMPLATES = [one for one in load_templates([WIKI]) if one.text.count("solve(")]
TYPES = {"fp32": torch.float32, "fp16": torch.float16}


def cutlass():
    """Headers of CUTLASS, where there are any."""
    for name in ("CUTLASS_INCLUDE_DIR", "CUTLASS_PATH"):
        for below in ("", "include"):
            folder = Path(os.environ.get(name, "/nowhere")) / below
            if (folder / "cutlass" / "cutlass.h").is_file():
                return folder
    return None


def written(template, folder, switches):
    op = OPS[template.op]
    roles = {role.name: role for role in template.roles}
    names = {role: f"user_{role}" for role in (*op.inputs, *op.outputs) if role in roles}
    inputs = {
        name: torch.empty([DIMS[dim.lstrip("*")] for dim in roles[role].shape],
                          dtype=TYPES[roles[role].dtypes[0]], device="meta")
        for role, name in names.items()
    }  # fmt: skip
    options = {name: values[-1] for name, values in op.options.items()}
    match = Match(op=template.op, names=names, options=options, dims=DIMS)
    text = instantiate(template, match, arguments_of(inputs), (names["out"],))
    assert 'extern "C" void solve(' in text
    assert "user_out" in text
    for name in switches:
        text = re.sub(rf"#define {name} [01]", f"#define {name} {switches[name]}", text)
    path = folder / f"{template.id}_{''.join(map(str, switches.values()))}.cu"
    path.write_text(text)
    return path


@pytest.mark.compilers
@pytest.mark.parametrize("template", TEMPLATES, ids=lambda one: one.id)
def test_the_instance_compiles_with_switches_on_and_off(template, tmp_path):
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is needed")
    include = ["-Werror", "all-warnings"]
    if template.language == "cutlass":
        if cutlass() is None:
            pytest.skip("CUTLASS headers are needed (CUTLASS_PATH)")
        include = ["-I", str(cutlass()), "-std=c++17", "--expt-relaxed-constexpr"]
    names = re.findall(r"#define (\w+) [01]\s+// kbs:method", template.text)
    paths = [
        written(template, tmp_path, dict.fromkeys(names, value))
        for value in (0, 1)[: 2 if names else 1]
    ]
    running = [
        subprocess.Popen(
            ["nvcc", "-arch=sm_90a", "-cubin", *include, "-o",
             f"{path}bin", str(path)],
            stderr=subprocess.PIPE,
        )
        for path in paths
    ]  # fmt: skip
    ended = [(process.communicate()[1].decode(), process.returncode) for process in running]
    assert [code for _, code in ended] == [0] * len(ended), "\n".join(text for text, _ in ended)
