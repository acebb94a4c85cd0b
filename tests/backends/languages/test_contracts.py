"""Which language a file is in, and what is told when a file breaks its contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbs_backends.languages import LANGUAGES, CompileCache, detect_language, language
from kbs_backends.languages.arguments import arguments_for
from kbs_backends.languages.cutlass import find_headers
from kbs_backends.languages.nvcc import messages_of, resources_of
from kbs_backends.languages.python_kernel import PythonKernel, call_setup
from kbs_engine.errors import InputError, KbsError, MeasurementError, UsageError
from kbs_engine.vocabulary import LANGUAGES as WORDS

CUTE = "import cutlass.cute as cute\nimport torch\n"


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("k.cu", "__global__ void f() {}", "cuda-cpp"),
        ("k.cu", "#include <cutlass/cutlass.h>", "cutlass"),
        ("k.cu", '  #include "cute/tensor.hpp"', "cutlass"),
        ("k.py", "import torch\nimport triton\nimport triton.language as tl", "triton"),
        ("k.py", "from triton import jit", "triton"),
        ("k.py", CUTE, "cute-dsl"),
        ("k.py", "from cutlass import cute\n", "cute-dsl"),
        ("k.py", "import flydsl.compiler as flyc\n", "flydsl"),
        ("k.py", "# import cutlass\nimport triton\n", "triton"),
        ("k.py", "import torch, triton, triton.language as tl\n", "triton"),
        ("k.py", "import os; import triton as t\n", "triton"),
        (
            "k.py",
            "try:\n    from triton import language as tl\nexcept ImportError: pass\n",
            "triton",
        ),
        ("k.py", "import torch, triton\ndef run_kernel(:\n", "triton"),
        ("k.py", '"""\nimport cutlass\n"""\nimport triton\n', "triton"),
    ],
)
def test_the_language_is_read_from_the_file(name, text, found):
    assert detect_language(Path(name), text) == found


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [("k.c", "", "belongs to no language"), ("k.py", "import torch\n", "imports none of")],
)
def test_a_file_of_no_language_is_refused(name, text, words):
    with pytest.raises(InputError, match=words) as refused:
        detect_language(Path(name), text)
    assert "--language" in refused.value.remedy


def test_names_and_aliases_of_languages():
    assert set(LANGUAGES) < set(WORDS)
    assert all(module.name == name for name, module in LANGUAGES.items())
    assert language("cuda").name == "cuda-cpp"
    with pytest.raises(UsageError, match="no language 'fortran'"):
        language("fortran")


KERNEL = """
def setup(n=4):
    import torch
    return {"inputs": {"x": torch.ones(n), "out": torch.empty(n)}, "outputs": ["out"]}

def run_kernel(x, out):
    out.copy_(x * 2)
"""


def written(tmp_path, text, name="k.py"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_kernel_is_loaded_and_called(tmp_path):
    kernel = PythonKernel.load(written(tmp_path, KERNEL))
    inputs, outputs = call_setup(kernel.setup, {"n": 3}, kernel.source)
    kernel(**inputs)
    assert outputs == ("out",)
    assert inputs["out"].tolist() == [2, 2, 2]
    kernel.prepare(**{**inputs, "x": inputs["x"] * 5})()
    assert inputs["out"].tolist() == [10, 10, 10]
    assert kernel.arguments == ("x", "out")


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        (KERNEL.replace("def run_kernel", "def run"), "defines no run_kernel", None),
        ("import nothing_like_this\n" + KERNEL, "nothing_like_this, which is not installed", 1),
        ("x = 1 / 0\n" + KERNEL, "fails while it is imported: ZeroDivisionError", 1),
        ("\ndef broken(:\n", "does not parse", 2),
    ],
)
def test_a_broken_kernel_is_told_with_its_line(tmp_path, text, words, line):
    path = written(tmp_path, text)
    with pytest.raises(KbsError) as refused:
        PythonKernel.load(path)
    assert words in refused.value.message
    assert refused.value.where == (f"{path}:{line}" if line else str(path))
    assert refused.value.remedy


def test_a_kernel_needs_a_setup_only_where_it_is_asked_for(tmp_path):
    path = written(tmp_path, KERNEL.replace("def setup", "def prepare"))
    kernel = PythonKernel.load(path)
    with pytest.raises(InputError, match="defines no setup") as refused:
        _ = kernel.setup
    assert refused.value.where == str(path)
    assert "def setup(**dims)" in refused.value.remedy


@pytest.mark.parametrize(
    ("parameters", "taken"),
    [
        ("x, out", {"x", "out"}),
        ("x, out, N", {"x", "out", "N"}),
        ("x, out, BLOCK=128", {"x", "out"}),
        ("out, N=7", {"out", "N"}),
        ("**anything", {"x", "out"}),
    ],
)
def test_a_kernel_is_given_what_it_names(tmp_path, parameters, taken):
    path = written(tmp_path, f"def run_kernel({parameters}): pass\n")
    kernel = PythonKernel.load(path)
    given = arguments_for(kernel, {"x": 1, "out": 2}, {"N": 3, "M": 4})
    assert set(given) == taken
    assert given.get("N", 3) == 3


def test_an_input_goes_before_a_dim_and_what_nobody_gives_is_named(tmp_path):
    kernel = PythonKernel.load(written(tmp_path, "def run_kernel(x, n, q): pass\n"))
    assert arguments_for(kernel, {"x": 1, "n": 2}, {"n": 9, "q": 3}) == {"x": 1, "n": 2, "q": 3}
    with pytest.raises(InputError, match=r"takes q, .*gives x, n, and the dims M"):
        arguments_for(kernel, {"x": 1, "n": 2}, {"M": 9})


def test_a_file_that_exits_is_told(tmp_path):
    path = written(tmp_path, "import sys\nsys.exit(3)\n")
    with pytest.raises(InputError, match=r"calls exit \(3\)") as refused:
        PythonKernel.load(path)
    assert refused.value.where == f"{path}:2"


def test_a_setup_that_fails_tells_its_dims(tmp_path):
    path = written(tmp_path, "import torch\ndef setup(N): return torch.empty(N)\n"
                             "def run_kernel(**_): pass\n")  # fmt: skip
    with pytest.raises(InputError, match="setup fails with N=-3") as refused:
        call_setup(PythonKernel.load(path).setup, {"N": -3}, path)
    assert "the dims" in refused.value.remedy


def test_memory_of_the_host_that_is_not_there_is_told_as_such(tmp_path):
    path = written(tmp_path, "import torch\ndef setup(): return torch.empty(10**15)\n"
                             "def run_kernel(**_): pass\n")  # fmt: skip
    with pytest.raises(MeasurementError, match="out of memory") as refused:
        call_setup(PythonKernel.load(path).setup, {}, path)
    assert "smaller dims" in refused.value.remedy


def test_run_kernel_fails_at_the_line_of_the_user(tmp_path):
    path = written(tmp_path, KERNEL.replace("out.copy_(x * 2)", "out.copy_(x[:1, None, None])"))
    kernel = PythonKernel.load(path)
    inputs, _ = call_setup(kernel.setup, {}, path)
    with pytest.raises(InputError, match="run_kernel fails: RuntimeError") as refused:
        kernel(**inputs)
    assert refused.value.where == f"{path}:7"


@pytest.mark.parametrize(
    ("returned", "dims", "words"),
    [
        ("None", {}, "does not return inputs"),
        ('{"inputs": {}, "outputs": ["y"]}', {}, "output 'y' is not among the inputs"),
        ('{"inputs": {"y": 3}, "outputs": ["y"]}', {}, "is a int, not a tensor"),
        ('{"inputs": {}, "outputs": []}', {"M": 3}, "M is not one of its dims"),
    ],
)
def test_a_wrong_setup_is_told(tmp_path, returned, dims, words):
    path = written(tmp_path, f"def setup(n=4): return {returned}\ndef run_kernel(**_): pass\n")
    with pytest.raises(InputError) as refused:
        call_setup(PythonKernel.load(path).setup, dims, path)
    assert words in refused.value.message
    assert refused.value.remedy


def test_dims_that_are_missing_are_named(tmp_path):
    path = written(tmp_path, "def setup(M, N): return {}\ndef run_kernel(**_): pass\n")
    with pytest.raises(InputError, match="N is not given") as refused:
        call_setup(PythonKernel.load(path).setup, {"M": 1}, path)
    assert "M=…,N=…" in refused.value.remedy


def test_out_of_memory_in_setup_says_what_to_do(tmp_path):
    text = "import torch\ndef setup(): raise torch.cuda.OutOfMemoryError('CUDA out of memory')\n"
    path = written(tmp_path, text + "def run_kernel(**_): pass\n")
    with pytest.raises(MeasurementError, match="out of memory") as refused:
        call_setup(PythonKernel.load(path).setup, {}, path)
    assert "smaller dims" in refused.value.remedy


def test_nvcc_missing_is_told_with_the_remedy(tmp_path, monkeypatch):
    from kbs_backends.languages import nvcc

    monkeypatch.setenv("PATH", str(tmp_path))
    nvcc.nvcc_version.cache_clear()
    path = written(tmp_path, 'extern "C" void solve(int n) {}', "k.cu")
    with pytest.raises(MeasurementError, match="nvcc cannot be run") as refused:
        LANGUAGES["cuda-cpp"].compile(path, "sm_90a", cache=CompileCache(tmp_path / "cache"))
    assert "CUDA toolkit" in refused.value.remedy
    nvcc.nvcc_version.cache_clear()


def test_cutlass_missing_names_all_three_places(tmp_path, monkeypatch):
    from kbs_backends.languages import cutlass

    monkeypatch.setenv("CUTLASS_PATH", str(tmp_path))
    monkeypatch.delenv("CUTLASS_INCLUDE_DIR", raising=False)
    monkeypatch.setattr(cutlass, "_packaged", lambda: None)
    with pytest.raises(MeasurementError) as refused:
        find_headers()
    assert str(tmp_path) in refused.value.message
    for place in ("CUTLASS_PATH", "CUTLASS_INCLUDE_DIR", "nvidia-cutlass"):
        assert place in refused.value.remedy


@pytest.mark.parametrize("variable", ["CUTLASS_PATH", "CUTLASS_INCLUDE_DIR"])
@pytest.mark.parametrize("below", ["include", "."])
def test_cutlass_is_found_by_root_or_include_folder(tmp_path, monkeypatch, variable, below):
    header = tmp_path / "include" / "cutlass" / "cutlass.h"
    header.parent.mkdir(parents=True)
    header.touch()
    for name in ("CUTLASS_PATH", "CUTLASS_INCLUDE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(tmp_path if below == "include" else tmp_path / "include"))
    assert find_headers() == (tmp_path / "include").resolve()


def test_packages_of_dsls_that_are_missing_are_named(tmp_path, monkeypatch):
    from importlib import metadata

    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    cache = CompileCache(tmp_path / "cache")
    for name, arch, package in (
        ("cute-dsl", "sm_90a", "nvidia-cutlass-dsl"),
        ("flydsl", "gfx942", "flydsl"),
        ("triton", "sm_90", "triton"),
    ):
        path = written(tmp_path, KERNEL)
        with pytest.raises(MeasurementError, match=f"package {package} is not") as refused:
            LANGUAGES[name].compile(path, arch, cache=cache)
        assert f"pip install {package}" in refused.value.remedy


@pytest.mark.parametrize(
    ("name", "arch"),
    [("cuda-cpp", "gfx942"), ("cute-dsl", "gfx942"), ("flydsl", "sm_90a"), ("triton", "cpu")],
)
def test_a_target_of_another_vendor_is_refused(tmp_path, name, arch):
    path = written(tmp_path, KERNEL)
    with pytest.raises(UsageError, match=f"does not compile for {arch}"):
        LANGUAGES[name].compile(path, arch, cache=CompileCache(tmp_path / "cache"))


NVCC_OUTPUT = """\
k.cu(3): error: identifier "zz" is undefined
      y[i] = zz;
             ^

k.cu(4): warning #177-D: variable "unused" was declared but never referenced
other.cuh(7): error: expected a ";"
k.cu:2:10: fatal error: nothing.h: No such file or directory
ptxas fatal   : Unresolved extern function 'f'
"""


def test_messages_of_nvcc_carry_the_line_of_the_users_file():
    text = "a\nb\nc\nd\n"
    found = messages_of(NVCC_OUTPUT, Path("/somewhere/k.cu"), text)
    assert [(m.severity, m.line, m.text) for m in found] == [
        ("error", 3, "c"), ("warning", 4, "d"), ("error", None, ""), ("error", 2, "b"),
        ("error", None, ""),
    ]  # fmt: skip
    assert found[0].message == 'identifier "zz" is undefined'
    assert found[2].message.startswith("other.cuh:7: ")
    assert found[3].column == 10


PTXAS_OUTPUT = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90a'
ptxas info    : Function properties for _Z1kPf
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 48 registers, used 1 barriers, 8 bytes cumulative stack size, 64 bytes smem
ptxas info    : Compiling entry function '_Z1gv' for 'sm_90a'
ptxas info    : Function properties for _Z1gv
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers
"""


def test_resources_are_read_from_ptxas():
    first, second = resources_of(PTXAS_OUTPUT, {"_Z1gv": 128})
    assert (first.registers, first.spill_store_bytes, first.spill_load_bytes) == (48, 4, 12)
    assert (first.shared_bytes, first.stack_bytes, first.threads_per_block) == (64, 8, None)
    assert (second.registers, second.shared_bytes, second.threads_per_block) == (10, 0, 128)


def test_what_ptxas_numbers_is_a_note():
    line = (
        "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to a function call in the function 'k'"
    )
    (message,) = messages_of(line, Path("kernel.cu"), "")
    assert message.severity == "note"
    assert message.message.startswith("ptxas C7510: Potential Performance Loss: wgmma")
