"""Autotuned kernels: which configuration runs is a tunable, and a source can be pinned."""

import pytest

from kbs_backends.variants import MarkError, pin_autotune, read_marks, write_variant

LIST = """\
@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64}, num_warps=4),  # small
        triton.Config({"BLOCK": 128}, num_warps=8),
    ],
    key=["n"],
)
@triton.jit
def k(x, n, BLOCK: tl.constexpr):
    pass
"""
NAMED = """\
CONFIGS = [triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})]

@triton.autotune(CONFIGS, key=["n"])
@triton.jit
def k(x, n, BLOCK: tl.constexpr):
    pass
"""
COMPUTED = NAMED.replace('[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})]', "make()")


@pytest.mark.parametrize("text", ["X = 3\n", "@triton.jit\ndef k(x):\n    pass\n"])
def test_what_is_not_autotuned_cannot_be_pinned(text):
    with pytest.raises(MarkError, match="no single autotuned kernel"):
        pin_autotune(text, 0)


@pytest.mark.parametrize(("text", "index"), [(LIST, 2), (LIST, -1), (NAMED, 2), (COMPUTED, -1)])
def test_a_configuration_that_does_not_exist(text, index):
    with pytest.raises(MarkError, match="has no configuration"):
        pin_autotune(text, index)


def test_several_autotuned_kernels_need_a_name():
    two = LIST + LIST.replace("def k", "def h")
    with pytest.raises(MarkError, match="autotuned: k, h"):
        pin_autotune(two, 0)
    assert pin_autotune(two, 1, kernel="h").count("64") == 1


def test_constants_of_one_configuration_among_several_are_no_tunables():
    (tunable,) = read_marks(LIST, "triton").tunables
    assert (tunable.name, tunable.current, tunable.values) == ("k.config", -1, (-1, 0, 1))


def test_a_computed_list_is_not_counted_but_can_be_pinned():
    assert read_marks(COMPUTED, "triton").tunables == ()
    assert "autotune(CONFIGS[1:2], key" in pin_autotune(COMPUTED, 1)


def test_pinning_leaves_one_configuration_whose_constants_are_the_kernels():
    pinned = pin_autotune(LIST, 1)
    assert pinned == write_variant(LIST, "triton", {"k.config": 1}, {})
    assert "64" not in pinned
    assert pinned.splitlines()[3:] == LIST.splitlines()[4:]
    assert read_marks(pinned, "triton").values() == {"BLOCK": 128, "num_warps": 8}


def test_a_named_list_is_sliced():
    assert "autotune(CONFIGS[0:1], key" in pin_autotune(NAMED, 0)
