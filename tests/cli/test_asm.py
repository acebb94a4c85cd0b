"""kbs asm from the outside: machine code and verdicts without a GPU."""

from __future__ import annotations

import shutil

import pytest

from tests.conftest import ROOT
from tests.thinned import thinned

KERNELS = ROOT / "tests/kernels"
pytestmark = pytest.mark.compilers
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not here")
GEMM = KERNELS / "gemm/kernel_triton.py"
SMALL = ("--ref", KERNELS / "gemm/ref.py", "--M=256", "--dims", "N=256,K=256")


@pytest.mark.parametrize(
    ("arch", "confirmed"),
    thinned([("sm_90", "wgmma"), ("sm_100", "tcgen05_mma"), ("gfx942", "mfma")], 2),
)
def test_a_triton_kernel_is_judged_on_three_targets(kbs, arch, confirmed):
    ran = kbs("asm", GEMM, "--arch", arch, *SMALL, "--method", confirmed, "--json")
    assert ran.code == 0, ran.err
    (method,) = ran.json["methods"]
    assert (method["method"], method["outcome"]) == (confirmed, "confirmed")
    (function,) = ran.json["functions"]
    assert function["name"] == "gemm_tiles"
    assert function["blocks"] > 1
    assert function["main_loop"] in function["loops"]
    assert function["resources"]["registers"] > 0
    assert sum(function["opcodes"].values()) == function["instructions"]
    assert all("gpu-wiki" in line for line in function["occupancy"]["citations"])


@pytest.mark.sweep
def test_a_refuted_method_is_exit_1_and_its_count_is_shown(kbs):
    ran = kbs("asm", GEMM, "--arch", "sm_90", *SMALL, "--method", "fp8_compute")
    assert ran.code == 1
    assert "fp8_compute: refuted" in ran.out
    assert "QGMMA: 0 in the function, at least 1 asked" in ran.out


@needs_nvcc
@pytest.mark.sweep
def test_a_cuda_kernel_as_text(kbs):
    ran = kbs("asm", KERNELS / "softmax/kernel.cu", "--chip", "h100_sxm")
    assert ran.code == 0, ran.err
    assert "softmax_registers(float4 const*, float4*, int)" in ran.out
    assert "warp_shuffle_reduction: confirmed" in ran.out
    assert "occupancy: 8 blocks, 64 warps per SM, 100 %, bound by warps" in ran.out
    assert "<- gpu-wiki/hardware/nvidia/cc_9_0.md:L" in ran.out
    listing = kbs("asm", KERNELS / "softmax/kernel.cu", "--arch", "sm_90a", "--text")
    assert "LDG.E.128" in listing.out


@needs_nvcc
@pytest.mark.sweep
def test_the_version_before_judges_what_is_gone(kbs, tmp_path):
    head = "__global__ void f(float* x) { x[0] = x[0] * %s; }\n"
    tail = 'extern "C" void solve(float* x) { f<<<1, 1>>>(x); }\n'
    before, after = tmp_path / "before.cu", tmp_path / "after.cu"
    before.write_text(head % "3.1" + tail)
    after.write_text(head % "3.1f" + tail)
    call = ("asm", after, "--arch", "sm_90a", "--method", "avoid_fp64", "--json")
    assert kbs(*call).json["methods"][0]["outcome"] == "not_observable"
    assert kbs(*call, "--before", before).json["methods"][0]["outcome"] == "confirmed"
    assert kbs("asm", before, *call[2:], "--before", after).code == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--arch", "sm_90", "--method", "no_such"), "no method 'no_such'"),
        (("--arch", "sm_90", "--method", "l2_grouped_ordering"), "has no signature"),
        ((), "the target is not known"),
        (("--chip", "h100_sxm", "--arch", "sm_80"), "not sm_80"),
        (("--arch", "sm_90", "--dims", "M"), "is no dim"),
        (("--arch", "sm_90", "--language", "cuda", "--M=1"), "no function solve"),
        (("--arch", "sm_90", "--X=1"), "X is not one of its dims"),
    ],
)
def test_wrong_calls_are_told(kbs, arguments, words):
    ran = kbs("asm", GEMM, *arguments, "--json")
    assert ran.code == 2, ran.out
    assert words in ran.error["message"]
    assert ran.error["remedy"]


@needs_nvcc
def test_a_source_with_a_fault_is_exit_2_with_its_line(kbs, tmp_path):
    source = tmp_path / "k.cu"
    source.write_text('extern "C" void solve(float* x) {\n  nothing<<<1, 1>>>(x);\n}\n')
    ran = kbs("asm", source, "--arch", "sm_90a", "--json")
    assert ran.code == 2
    assert ran.error["where"] == f"{source}:2"


def test_a_target_that_the_compiler_does_not_know_is_named(kbs):
    reference = KERNELS / "softmax/ref.py"
    options = ("--ref", reference, "--M=4", "--N=64", "--arch", "sm_999")
    ran = kbs("asm", KERNELS / "softmax/kernel_triton.py", *options)
    assert ran.code == 2
    assert "name a target that the compiler knows" in ran.err


@needs_nvcc
@pytest.mark.parametrize("head", ["", "template <class T> __global__ void f(T* x) { *x = 1; }\n"])
def test_a_file_without_a_kernel_is_told_so(kbs, tmp_path, head):
    source = tmp_path / "k.cu"
    source.write_text(head + 'extern "C" void solve(float* x) { }\n')
    for more in ((), ("--text",)):
        ran = kbs("asm", source, "--arch", "sm_90a", *more, "--json")
        assert ran.code == 2
        assert "holds no kernel" in ran.error["message"]


@pytest.mark.parametrize(
    "arch", ["gfx000", pytest.param("gfx998", marks=pytest.mark.sweep)]
)  # the older gfx906 is one of Triton 3.9
@pytest.mark.sweep
def test_an_amd_target_that_triton_does_not_have_is_named(kbs, arch):
    options = ("--ref", KERNELS / "softmax/ref.py", "--M=4", "--N=64", "--arch", arch)
    ran = kbs("asm", KERNELS / "softmax/kernel_triton.py", *options)
    assert ran.code == 2
    assert f"does not compile for {arch}" in ran.err
    assert "fix the line" not in ran.err
