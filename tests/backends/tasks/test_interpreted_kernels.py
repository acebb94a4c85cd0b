"""The Triton kernels under tests/kernels compute what their references do (interpreter, CPU)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT

KERNELS = ROOT / "tests/kernels"
SMALL = {
    "softmax": {"M": 5, "N": 70},
    "gemm": {"M": 40, "N": 33, "K": 70},
    "layernorm": {"M": 5, "N": 70},
    "reduction": {"M": 5, "N": 300},
    "attention": {"B": 1, "H": 2, "S": 80, "D": 16},
}


def test_every_folder_of_kernels_is_run_here():
    assert sorted(SMALL) == sorted(p.parent.name for p in KERNELS.glob("*/ref.py"))


@pytest.mark.compilers
@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_triton_kernel_is_right(name, told):
    assert told[name] == "right"


@pytest.mark.compilers
def test_a_wrong_triton_kernel_is_found(told):
    assert told["wrong"].startswith("values")


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the interpreter says of every kernel and of a wrong one: one process for all."""
    folder = tmp_path_factory.mktemp("wrong")
    text = (KERNELS / "reduction/kernel_triton.py").read_text()
    wrong = folder / "kernel_triton.py"
    wrong.write_text(text.replace("tl.sum(sums, 0)", "tl.max(sums, 0)"))
    (folder / "ref.py").write_text((KERNELS / "reduction/ref.py").read_text())
    kernels = {name: KERNELS / name / "kernel_triton.py" for name in sorted(SMALL)}
    sizes = SMALL | {"wrong": SMALL["reduction"]}
    words = []
    for name, kernel in (kernels | {"wrong": wrong}).items():
        words += [str(kernel), *(f"{dim}={value}" for dim, value in sizes[name].items())]
    done = subprocess.run(
        [sys.executable, KERNELS / "run_interpreted.py", *words],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(zip(sizes, done.stdout.splitlines(), strict=True))
