"""Several rewrites one after the other: each keeps the switches of those before it."""

import shutil

import msgspec
import pytest

from kbs_backends.rewrites import all_rewrites
from kbs_backends.variants import read_marks, write_variant
from tests.rewrites.common import corpus, run_all, source_of
from tests.rewrites.nvcc_batch import compile_all

TRITON = ("softmax_three_pass", "matmul_moving_pointers", "sum_atomic")
CUDA = ("vector_add", "sigmoid_early_return", "transpose_tiled", "layer_norm", "matvec_columns")


def apply_all(text, language):
    """Apply everything that applies, in the order of the registry; return text and methods."""
    methods = []
    for method, rewrite in all_rewrites(language).items():
        source = msgspec.structs.replace(source_of(text, language), text=text)
        if rewrite.applies(source).ok:
            text = rewrite.apply(source)
            methods.append(method)
            marks = read_marks(text, language)
            assert marks.methods() == dict.fromkeys(methods, True), method
    return text, methods


def combinations(text, language, methods):
    """All on, all off, and each method alone."""
    chosen = {"all": set(methods), "none": set()} | {method: {method} for method in methods}
    return {
        name: write_variant(text, language, {}, {method: method in on for method in methods})
        for name, on in chosen.items()
    }


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[] if path.stem in TRITON else pytest.mark.sweep)
        for path in corpus("triton")
    ],
)
def test_triton_switches_survive_what_comes_later(path):
    text, methods = apply_all(path.read_text(), "triton")
    switched = methods[:2]
    for name, variant in combinations(text, "triton", switched).items():
        compile(variant, "variant", "exec")
        off = {m for m in switched if name not in ("all", m)}
        assert read_marks(variant, "triton").methods() == {m: m not in off for m in methods}


@pytest.mark.parametrize("path", corpus("cuda-cpp"), ids=lambda path: path.stem)
def test_cuda_switches_survive_what_comes_later(path):
    text, methods = apply_all(path.read_text(), "cuda-cpp")
    assert methods
    for method, on in read_marks(text, "cuda-cpp").methods().items():
        assert on
        off = write_variant(text, "cuda-cpp", {}, {method: False})
        assert read_marks(off, "cuda-cpp").methods() == {m: m != method for m in methods}


@pytest.mark.sweep
def test_all_none_and_each_alone_agree_with_the_reference(tmp_path):
    jobs = []
    for path in corpus("triton"):
        if path.stem in TRITON:
            text, methods = apply_all(path.read_text(), "triton")
            assert len(methods) > 3
            made = combinations(text, "triton", methods)
            jobs += [(f"{path.stem}/{name}", variant) for name, variant in made.items()]
    assert run_all(jobs, "interpret", tmp_path) == {}


@pytest.mark.sweep
@pytest.mark.compilers
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not here")
def test_all_and_none_compile(tmp_path):
    jobs = []
    for path in corpus("cuda-cpp"):
        if path.stem in CUDA:
            text, methods = apply_all(path.read_text(), "cuda-cpp")
            made = combinations(text, "cuda-cpp", methods)
            jobs += [(f"{path.stem}_{name}.cu", made[name]) for name in ("all", "none")]
    assert compile_all(jobs, tmp_path) == ""
