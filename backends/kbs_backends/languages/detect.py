"""All languages by name, and which one a file is written in."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kbs_backends.languages.base import LanguageModule
from kbs_backends.languages.cuda_cpp import CudaCpp
from kbs_backends.languages.cute_dsl import CuteDsl
from kbs_backends.languages.cutlass import Cutlass
from kbs_backends.languages.flydsl import FlyDsl
from kbs_backends.languages.triton import Triton
from kbs_engine.errors import InputError, UsageError
from kbs_engine.vocabulary import LANGUAGE_ALIASES, Language

LANGUAGES: Final[dict[str, LanguageModule]] = {
    "cutlass": Cutlass(),
    "cuda-cpp": CudaCpp(),
    "flydsl": FlyDsl(),
    "cute-dsl": CuteDsl(),
    "triton": Triton(),
}
"""Every language; where several fit a file, the first that finds itself in the text wins."""


def language(name: str) -> LanguageModule:
    """The module of a name or alias; UsageError lists the names."""
    found = LANGUAGES.get(LANGUAGE_ALIASES.get(name, name))
    if found is None:
        raise UsageError(
            f"no language {name!r}", remedy=f"give one of {', '.join(sorted(LANGUAGES))}"
        )
    return found


def detect_language(path: Path, text: str) -> Language:
    """By suffix, then by what the file imports or includes.

    Raises:
        InputError: A suffix that no language has, or a .py file that imports none of them.
    """
    by_suffix = [item for item in LANGUAGES.values() if path.suffix in item.suffixes]
    if not by_suffix:
        raise InputError(
            f"suffix {path.suffix or '(none)'!r} belongs to no language", where=str(path),
            remedy=f"give a file that ends in {_listed(_suffixes())}, or name its --language",
        )  # fmt: skip
    found = next((item for item in by_suffix if item.detect(text)), None)
    if found is None:
        names = _listed(item.name for item in by_suffix)
        raise InputError(
            f"imports none of the packages of {names}",
            where=str(path),
            remedy="import the language that it is written in, or name it with --language",
        )
    return found.name


def _suffixes() -> Iterable[str]:
    return dict.fromkeys(suffix for item in LANGUAGES.values() for suffix in item.suffixes)


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
