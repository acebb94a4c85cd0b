"""CUDA rewrites: first the kernels on which each must not fire, then those on which it must."""

import shutil

import msgspec
import pytest

from kbs_backends.rewrites import NotApplicableError, all_rewrites
from kbs_backends.variants import read_marks, write_variant
from tests.rewrites.common import cases, source_of
from tests.rewrites.nvcc_batch import compile_all

REWRITES = all_rewrites("cuda-cpp")
QUIET = cases("cuda-cpp", "quiet")
FIRES = cases("cuda-cpp", "fires")


def named(pairs):
    return [pytest.param(*pair, id=f"{pair[0]}-{pair[1].stem}") for pair in pairs]


@pytest.mark.parametrize(("method", "path"), named(QUIET))
def test_it_must_not_fire_and_says_why(method, path):
    source = source_of(path.read_text(), "cuda-cpp")
    answer = REWRITES[method].applies(source)
    assert not answer.ok
    assert answer.why
    with pytest.raises(NotApplicableError, match=r"\w"):
        REWRITES[method].apply(source)


@pytest.mark.parametrize(
    ("method", "known", "why"),
    [
        ("avoid_fp64", {"rtol": 1e-9, "atol": 0.0}, "may need the double"),
        ("index_width_reduction", {"dims": {}}, "not known"),
        ("index_width_reduction", {"dims": {"N": 2**31}}, "may pass 2\\^31"),
    ],
)
def test_what_the_task_does_not_allow(method, known, why):
    path = next(path for name, path in FIRES if name == method)
    source = msgspec.structs.replace(source_of(path.read_text(), "cuda-cpp"), **known)
    assert not REWRITES[method].applies(source).ok
    with pytest.raises(NotApplicableError, match=why):
        REWRITES[method].apply(source)


@pytest.mark.parametrize("text", ["", "int x;", "}{ not C++ <<<", "__global__ void k() {"])
def test_what_is_no_kernel_is_refused_by_all(text):
    for rewrite in REWRITES.values():
        assert not rewrite.applies(source_of(text, "cuda-cpp")).ok


@pytest.mark.parametrize(("method", "path"), named(FIRES))
def test_it_fires_behind_a_switch_that_keeps_the_rest(method, path):
    source = source_of(path.read_text(), "cuda-cpp")
    answer = REWRITES[method].applies(source)
    assert answer.ok, answer.why
    text = REWRITES[method].apply(source)
    marks = read_marks(text, "cuda-cpp")
    assert marks.methods() == {method: True}
    off = write_variant(text, "cuda-cpp", {}, {method: False})
    pairs = zip(text.splitlines(), off.splitlines(), strict=True)
    assert [b for a, b in pairs if a != b] == [b for b in off.splitlines() if "kbs:method" in b]
    again = msgspec.structs.replace(source, text=text)
    assert REWRITES[method].applies(again).why == "it has been applied already"


@pytest.mark.sweep
@pytest.mark.compilers
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not here")
def test_on_and_off_both_compile(tmp_path):
    jobs = []
    for method, path in FIRES:
        text = REWRITES[method].apply(source_of(path.read_text(), "cuda-cpp"))
        name = f"{method}_{path.stem}"
        jobs += [(f"{name}_on.cu", text)]
        jobs += [(f"{name}_off.cu", write_variant(text, "cuda-cpp", {}, {method: False}))]
    assert compile_all(jobs, tmp_path) == ""
