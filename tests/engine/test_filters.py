"""Filters: what a language, a chip or a kernel family rules out, and what merely fits less."""

from __future__ import annotations

import msgspec
import pytest

from kbs_engine.filters import OUTSIDE_THE_KERNEL, Setting, filter_method, loose_fit


def method(store, name, **changes):
    found = next(row for row in store.methods() if row.id == name)
    return msgspec.structs.replace(found, **changes)


def removed(found, **setting):
    row = filter_method(found, Setting(**setting), ())
    return row.filter if row else None


def test_every_method_outside_the_kernel_is_known(store):
    assert {row.id for row in store.methods()} >= OUTSIDE_THE_KERNEL


@pytest.mark.parametrize(
    ("name", "languages", "requires", "language", "expected"),
    [
        # a managed compiler owns registers: what the page does not show cannot be written
        ("register_prefetch", ("cuda-cpp", "hip"), (), "triton", "language"),
        # a language with full control can write it although the page has no code for it
        ("load_balancing", ("cuda-cpp", "triton"), (), "cute-dsl", None),
        ("load_balancing", ("cuda-cpp", "triton"), (), "flydsl", None),
        # shown for managed languages alone: the mechanism is that compiler's
        ("load_balancing", ("triton",), (), "hip", "language"),
        # hardware of one vendor stays with the languages that reach it
        ("tma_load", ("cuda-cpp", "triton"), ("tma",), "hip", "language"),
        ("tma_load", ("cuda-cpp", "triton"), ("tma",), "cutlass", None),
        ("mfma", ("triton", "hip"), ("mfma",), "flydsl", None),
        ("mfma", ("triton", "hip"), ("mfma",), "cuda-cpp", "language"),
        # the host side has no kernel language
        ("cuda_graph", ("cuda-cpp",), (), "triton", None),
    ],
)
def test_languages(store, name, languages, requires, language, expected):
    found = method(store, name, languages=languages, requires=requires, kernels=())
    assert removed(found, language=language) == expected


def test_a_language_without_recipe_fits_less(store):
    found = method(store, "load_balancing", languages=("cuda-cpp",), kernels=())
    assert set(loose_fit(found, Setting(language="hip"))) == {"no recipe for hip"}
    assert loose_fit(found, Setting(language="cuda-cpp")) == {}
    assert loose_fit(found, Setting()) == {}


def test_a_family_that_was_only_told_fits_less_and_one_of_a_report_filters(store):
    found = method(store, "flash_attention", kernels=("attention",), not_kernels=("scan",))
    assert removed(found, family="softmax") == "kernel"
    assert removed(found, family="softmax", told=True) is None
    assert removed(found, family="scan", told=True) == "kernel"
    assert set(loose_fit(found, Setting(family="softmax", told=True))) == {
        "not written for softmax"
    }
