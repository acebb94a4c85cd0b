"""Triton rewrites: first the kernels on which each must not fire, then those on which it must."""

import msgspec
import pytest

from kbs_backends.rewrites import NotApplicableError, all_rewrites
from kbs_backends.variants import read_marks, write_variant
from tests.rewrites.common import cases, run_all, source_of

REWRITES = all_rewrites("triton")
QUIET = cases("triton", "quiet")
FIRES = cases("triton", "fires")


def named(pairs):
    return [pytest.param(*pair, id=f"{pair[0]}-{pair[1].stem}") for pair in pairs]


@pytest.mark.parametrize(("method", "path"), named(QUIET))
def test_it_must_not_fire_and_says_why(method, path):
    source = source_of(path.read_text(), "triton", method)
    answer = REWRITES[method].applies(source)
    assert not answer.ok
    assert answer.why
    with pytest.raises(NotApplicableError, match=r"\w"):
        REWRITES[method].apply(source)


def changed(path, method, **known):
    return msgspec.structs.replace(source_of(path.read_text(), "triton", method), **known)


def first(method):
    return next(path for name, path in FIRES if name == method)


@pytest.mark.parametrize(
    ("method", "known", "why"),
    [
        ("tf32_precision", {"permitted": ()}, "does not permit TF32"),
        ("split_precision_emulation", {"rtol": 1e-8, "atol": 0.0}, "every bit"),
        ("index_width_reduction", {"dims": {}}, "not known"),
        ("index_width_reduction", {"dims": {"M": 2**20, "N": 2**12}}, "may pass 2\\^31"),
        ("tma_load", {"arch": "sm_80"}, "no bulk copy engine"),
        ("tma_load", {"arch": "gfx942"}, "no bulk copy engine"),
        ("warp_specialization", {"arch": "sm_90a"}, "not sm_90a"),
        ("warp_specialization", {"arch": "sm_120a"}, "not sm_120a"),
        ("occupancy_tuning_registers", {"arch": "gfx942"}, "NVIDIA"),
    ],
)
def test_what_the_task_or_chip_does_not_allow(method, known, why):
    source = changed(first(method), method, **known)
    assert not REWRITES[method].applies(source).ok
    with pytest.raises(NotApplicableError, match=why):
        REWRITES[method].apply(source)


@pytest.mark.parametrize("text", ["", "def broken(:\n", "import triton\n", "x = 3\n"])
def test_what_is_no_kernel_is_refused_by_all(text):
    for rewrite in REWRITES.values():
        source = msgspec.structs.replace(source_of("", "triton"), text=text)
        assert not rewrite.applies(source).ok


@pytest.mark.parametrize(("method", "path"), named(FIRES))
def test_it_fires_behind_a_switch_that_keeps_the_rest(method, path):
    source = source_of(path.read_text(), "triton", method)
    answer = REWRITES[method].applies(source)
    assert answer.ok, answer.why
    text = REWRITES[method].apply(source)
    compile(text, "variant", "exec")
    marks = read_marks(text, "triton")
    assert marks.methods() == {method: True}
    assert all(t.name.startswith("KBS_") for t in marks.tunables if t.kind == "mark")
    off = write_variant(text, "triton", {}, {method: False})
    pairs = zip(text.splitlines(), off.splitlines(), strict=True)
    assert [b for a, b in pairs if a != b] == [b for b in off.splitlines() if "kbs:method" in b]
    again = msgspec.structs.replace(source, text=text)
    assert REWRITES[method].applies(again).why == "it has been applied already"


def test_constants_stand_above_a_decorator_that_follows_the_imports_at_once():
    text = first("aligned_access_hint").read_text()
    dense = text.replace(text[text.index("DEVICE = ") : text.index("@triton.jit")], "")
    dense = dense.replace("language as tl\n\n", "language as tl\n")
    assert "language as tl\n@triton.jit" in dense
    for method in ("aligned_access_hint", "mask_elision"):
        source = msgspec.structs.replace(source_of(text, "triton"), text=dense)
        lines = REWRITES[method].apply(source).splitlines()
        switch = next(n for n, line in enumerate(lines) if f"kbs:method {method}" in line)
        assert switch < next(n for n, line in enumerate(lines) if line.startswith("@triton"))


def variants():
    jobs = []
    for method, path in FIRES:
        text = REWRITES[method].apply(source_of(path.read_text(), "triton", method))
        name = f"{method}/{path.stem}"
        jobs += [(f"{name}/on", text)]
        jobs += [(f"{name}/off", write_variant(text, "triton", {}, {method: False}))]
    return jobs


@pytest.mark.sweep
def test_on_and_off_both_agree_with_the_reference(tmp_path):
    plain = [(f"plain/{m}/{p.stem}", p.read_text()) for m, p in (*QUIET, *FIRES)]
    assert run_all([*plain, *variants()], "interpret", tmp_path) == {}


@pytest.mark.sweep
@pytest.mark.compilers
def test_switched_on_they_compile_for_a_gpu(tmp_path):
    jobs = [(name, text) for name, text in variants() if name.endswith("/on")]
    assert run_all(jobs, "sm_90a", tmp_path) == {}
