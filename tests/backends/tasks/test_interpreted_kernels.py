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
def test_a_triton_kernel_is_right(name, run_interpreted):
    assert run_interpreted(KERNELS / name / "kernel_triton.py", SMALL[name]) == "right"


@pytest.mark.compilers
def test_a_wrong_triton_kernel_is_found(tmp_path, run_interpreted):
    text = (KERNELS / "reduction/kernel_triton.py").read_text()
    wrong = tmp_path / "kernel_triton.py"
    wrong.write_text(text.replace("tl.sum(sums, 0)", "tl.max(sums, 0)"))
    (tmp_path / "ref.py").write_text((KERNELS / "reduction/ref.py").read_text())
    assert run_interpreted(wrong, SMALL["reduction"]).startswith("values")


@pytest.fixture
def run_interpreted():
    def run(kernel, dims):
        script = KERNELS / "run_interpreted.py"
        listed = [f"{name}={value}" for name, value in dims.items()]
        done = subprocess.run(
            [sys.executable, script, kernel, *listed],
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run
