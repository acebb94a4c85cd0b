"""A source of any language as bindings, comments and autotuned kernels."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from kbs_backends.variants.autotune import Autotuned, config_spans, find_autotuned
from kbs_backends.variants.inferred import infer
from kbs_backends.variants.records import UnreadableSourceError
from kbs_backends.variants.sites import Sites, TunableSite, find_marked
from kbs_engine.vocabulary import Language

PYTHON = frozenset({"triton", "cute-dsl", "flydsl"})
C_LIKE = frozenset({"cuda-cpp", "cutlass", "hip"})


class Scanned(msgspec.Struct, frozen=True, kw_only=True):
    """Every place of a source that can be varied."""

    marked: Sites
    inferred: tuple[TunableSite, ...] = ()
    autotuned: tuple[Autotuned, ...] = ()
    python: bool = True


def scan(text: str, language: Language, where: str) -> Scanned:
    """Find all marks and what else can be varied.

    Raises:
        MarkError: The source is not of its language, or a mark cannot be understood.
    """
    if language in PYTHON:
        return _scan_python(text, where)
    if language in C_LIKE:
        return _scan_c(text, where)
    raise UnreadableSourceError(
        f"no marks can be read in a source of language {language}",
        where=where,
        remedy="name its language: triton, cute-dsl, flydsl, cuda-cpp, cutlass or hip",
    )


@lru_cache(maxsize=32)
def _scan_python(text: str, where: str) -> Scanned:
    from kbs_backends.variants.python_scan import PythonScan, parse

    tree = parse(text, where)
    found = PythonScan(tree)
    marked = find_marked(found.bindings, found.comments, where)
    spans = config_spans(tree)
    free = [one for one in found.bindings if not any(s <= one.start < e for s, e in spans)]
    inferred = infer(free, marked, python=True)
    return Scanned(marked=marked, inferred=inferred, autotuned=find_autotuned(tree))


def _scan_c(text: str, where: str) -> Scanned:
    from kbs_backends.variants.cuda_scan import CudaScan
    from kbs_backends.variants.cuda_tree import parse

    found = CudaScan(parse(text))
    marked = find_marked(found.bindings, found.comments, where)
    return Scanned(
        marked=marked, inferred=infer(found.bindings, marked, python=False), python=False
    )
