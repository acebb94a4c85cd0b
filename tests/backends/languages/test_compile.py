"""Real compilers, no GPU: the kernels under tests/kernels, and sources with faults."""

from __future__ import annotations

import ctypes
import shutil
from functools import partial

import pytest

from kbs_backends.languages import LANGUAGES, Call, prebuilt_library
from kbs_backends.languages.ctypes_call import SolveCall
from kbs_backends.languages.cubin import resources_in
from kbs_backends.languages.isolated import compile_apart
from kbs_backends.languages.linked import library_calls
from kbs_backends.languages.machine_code import listings_of
from kbs_engine.errors import InputError, KbsError, MeasurementError, UsageError
from tests.conftest import ROOT

KERNELS = ROOT / "tests/kernels"
NAMES = sorted(path.parent.name for path in KERNELS.glob("*/ref.py"))
pytestmark = pytest.mark.compilers
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not here")


def told(rows):
    return {row.kernel: (row.registers, row.shared_bytes, row.threads_per_block) for row in rows}


def in_cubin(path):
    """The same by the binary itself: what ptxas prints and what the ELF holds agree."""
    return told(resources_in(path))


@needs_nvcc
@pytest.mark.sweep
@pytest.mark.parametrize("name", NAMES)
def test_every_cuda_kernel_compiles_and_has_machine_code(name, cache):
    module = LANGUAGES["cuda-cpp"]
    source = KERNELS / name / "kernel.cu"
    built = module.compile(source, "sm_90a", cache=cache)
    assert built.compiled.ok, built.compiled.messages
    for row in built.compiled.resources:
        assert row.registers
        assert row.threads_per_block
        assert row.spill_store_bytes == 0
    assert in_cubin(built.files["cubin"]) == told(built.compiled.resources)
    listed = module.listings(source, "sm_90a", cache=cache).disassembled.functions
    assert {f.name for f in listed} == {row.kernel for row in built.compiled.resources}


@needs_nvcc
def test_calls_of_libraries_are_read_off_the_symbols(tmp_path, cache):
    source = tmp_path / "k.cu"
    body = 'extern "C" void solve(const float* x, int n) {{ {} }}\n'
    source.write_text('extern "C" int cublasSgemmOf(const float*);\n'
                      + body.format("if (n) cublasSgemmOf(x);"))  # fmt: skip
    other = tmp_path / "plain.cu"
    other.write_text("__global__ void k(const float* x) {}\n" + body.format("k<<<1, n>>>(x);"))
    module = LANGUAGES["cuda-cpp"]
    built = [module.compile(one, "sm_90a", cache=cache).library for one in (source, other)]
    assert [library_calls(one) for one in built] == [("cublasSgemmOf",), ()]
    cut = tmp_path / "cut.so"
    cut.write_bytes(built[0].read_bytes()[:200])
    assert library_calls(cut) == ()


@needs_nvcc
def test_a_library_is_loaded_and_its_arguments_are_checked(tmp_path, cache):
    """Host code alone, so that it can be called without a GPU."""
    source = tmp_path / "k.cu"
    source.write_text(
        'extern "C" void solve(const float* x, double* seen, int n, float scale) {\n'
        "    seen[0] = x[0] * scale + n;\n}\n"
    )
    module = LANGUAGES["cuda-cpp"]
    built = module.compile(source, "sm_90a", cache=cache)
    call = module.load(source, built.library)
    import torch

    x, seen = torch.tensor([3.0]), torch.zeros(1, dtype=torch.float64)
    call(x=x, seen=seen, n=4, scale=0.5, unused=1)
    assert seen.tolist() == [5.5]
    launch = call.prepare(x=x, seen=seen, n=1, scale=1.0)
    x.fill_(7.0)
    launch()
    assert seen.tolist() == [8.0]
    assert call.arguments == ("x", "seen", "n", "scale")
    for wrong, words in (
        ({"x": x, "seen": seen, "n": 4}, "scale, which is not among"),
        ({"x": x.double(), "seen": seen, "n": 4, "scale": 1.0}, "the input is float64"),
        ({"x": 3, "seen": seen, "n": 4, "scale": 1.0}, "a pointer for x"),
        ({"x": x, "seen": seen, "n": x, "scale": 1.0}, "hold a tensor"),
    ):
        with pytest.raises(UsageError, match=words) as refused:
            call(**wrong)
        assert refused.value.where == f"{source}:1"
    with pytest.raises(InputError, match="loaded from its compiled library"):
        module.load(source)


@needs_nvcc
def test_a_fault_is_told_with_the_line_of_the_users_file(tmp_path, cache):
    source = tmp_path / "k.cu"
    source.write_text('__global__ void f(float* x) {\n    x[0] = zz;\n}\n'
                      'extern "C" void solve(float* x) { f<<<1, 1>>>(x); }\n')  # fmt: skip
    built = LANGUAGES["cuda-cpp"].compile(source, "sm_90a", cache=cache)
    assert not built.compiled.ok
    first = built.compiled.messages[0]
    assert (first.severity, first.line, first.text) == ("error", 2, "    x[0] = zz;")
    with pytest.raises(MeasurementError, match="zz") as refused:
        LANGUAGES["cuda-cpp"].listings(source, "sm_90a", cache=cache)
    assert refused.value.where == f"{source}:2"


@needs_nvcc
def test_a_changed_header_is_another_source(tmp_path, cache):
    source, header = tmp_path / "k.cu", tmp_path / "size.cuh"
    source.write_text('#include "size.cuh"\n__global__ void f(int* x) { x[0] = SIZE; }\n'
                      'extern "C" void solve(int* x) { f<<<1, 1>>>(x); }\n')  # fmt: skip
    header.write_text("#define SIZE 1\n")
    module = LANGUAGES["cuda-cpp"]
    module.compile(source, "sm_90a", cache=cache)
    assert module.compile(source, "sm_90a", cache=cache).compiled.cached
    header.write_text("#define SIZE 2\n")
    assert not module.compile(source, "sm_90a", cache=cache).compiled.cached


def test_a_library_that_is_none_is_told(tmp_path):
    from kbs_backends.languages.signature import solve_signature

    source = tmp_path / "k.cu"
    source.write_text('extern "C" void solve(int n) {}')
    signature = solve_signature(source.read_text(), str(source))
    with pytest.raises(InputError, match="no prebuilt library"):
        prebuilt_library(source)
    source.with_suffix(".so").write_bytes(b"no library")
    with pytest.raises(MeasurementError, match="cannot be loaded"):
        SolveCall(prebuilt_library(source), signature, str(source))
    assert ctypes.c_int(1).value == 1


@pytest.mark.sweep
@pytest.mark.parametrize("arch", ["sm_90", "sm_100", "gfx942"])
def test_triton_kernels_are_compiled_as_they_are_launched(arch, cache):
    folder = KERNELS / "gemm"
    call = Call(dims={"M": 256, "N": 256, "K": 256}, reference=folder / "ref.py")
    source = folder / "kernel_triton.py"
    built = compile_apart("triton", source, arch, cache=cache, call=call)
    (row,) = built.compiled.resources
    assert row.kernel == "gemm_tiles"
    assert row.registers
    assert row.shared_bytes
    # The first configuration has eight warps; a wave of CDNA has 64 lanes.
    assert row.threads_per_block == 8 * (64 if arch == "gfx942" else 32)
    (function,) = listings_of(built, str(source)).disassembled.functions
    wanted = {"sm_90": "HGMMA", "sm_100": "UTCHMMA", "gfx942": "v_mfma_f32_32x32x8_f16"}[arch]
    assert wanted in {i.mnemonic for i in function.instructions}
    again = compile_apart("triton", source, arch, cache=cache, call=call)
    assert again.compiled.cached


def test_a_fault_in_a_triton_kernel_has_its_line(tmp_path, cache):
    text = (KERNELS / "reduction/kernel_triton.py").read_text()
    source = tmp_path / "kernel_triton.py"
    source.write_text(text.replace("tl.sum(sums, 0)", "tl.summ(sums, 0)"))
    built = compile_apart("triton", source, "sm_90", cache=cache, call=Call(dims={"M": 8, "N": 64}))
    assert not built.compiled.ok
    (message,) = built.compiled.messages
    assert "summ" in message.message
    assert "tl.summ" in message.text
    assert source.read_text().splitlines()[message.line - 1] == message.text


@pytest.mark.parametrize(
    ("old", "new", "words", "apart"),
    [
        ("row_sums[(M,)](", "(lambda *_, **__: None)(", "launches no Triton kernel", False),
        ("def run_kernel", "def run", "defines no run_kernel", False),
        ("block = min(", "import os; os._exit(7); block = min(", "compiling process died", True),
        ("block = min(", "x.sum().item(); block = min(", "run_kernel fails", True),
        (
            "block = min(",
            "n = torch.cuda.get_device_properties(0).multi_processor_count; block = min(",
            "asks the device for multi_processor_count",
            False,
        ),
    ],
)
def test_what_cannot_be_compiled_is_told(tmp_path, cache, old, new, words, apart):
    """Apart where the process matters: its death, and an error that crosses from it."""
    text = (KERNELS / "reduction/kernel_triton.py").read_text()
    source = tmp_path / "kernel_triton.py"
    source.write_text(text.replace(old, new))
    make = partial(compile_apart, "triton") if apart else LANGUAGES["triton"].compile
    with pytest.raises(KbsError) as refused:
        make(source, "sm_90", cache=cache, call=Call(dims={"M": 8, "N": 64}))
    assert words in refused.value.message
    assert refused.value.remedy


def test_a_known_number_of_units_answers_a_persistent_kernel(tmp_path, cache):
    text = (KERNELS / "reduction/kernel_triton.py").read_text()
    source = tmp_path / "kernel_triton.py"
    ask = "assert torch.cuda.get_device_properties(x.device).multi_processor_count == 132"
    source.write_text(
        text.replace("block = min(", f"{ask}\n    assert x.is_cuda\n    block = min(")
    )
    call = Call(dims={"M": 8, "N": 64}, unit_count=132)
    assert compile_apart("triton", source, "sm_90", cache=cache, call=call).compiled.ok
