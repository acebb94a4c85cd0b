"""Modules, registry, document and wiki name the same methods, in both directions."""

import re
from pathlib import Path

import pytest
import yaml

import kbs_backends.rewrites
from kbs_backends.rewrites import all_rewrites
from kbs_engine.vocabulary import LANGUAGES
from tests.rewrites.common import FOLDER, ROOT, cases

PACKAGE = Path(kbs_backends.rewrites.__file__).parent
PAGES = {path.stem: path for path in (ROOT / "gpu-wiki" / "methods").glob("*/*.md")}


@pytest.mark.parametrize("language", ["other", "hip", "cute-dsl", "flydsl"])
def test_languages_without_rewrites_have_none(language):
    assert all_rewrites(language) == {}


def test_every_language_can_be_asked_for():
    assert {one for one in LANGUAGES if all_rewrites(one)} == {"triton", "cuda-cpp", "cutlass"}


@pytest.mark.parametrize("language", ["triton", "cuda-cpp"])
def test_modules_and_registry(language):
    folder = PACKAGE / FOLDER[language]
    modules = {path.stem for path in folder.glob("*.py") if "METHOD = " in path.read_text()}
    rewrites = all_rewrites(language)
    assert modules == set(rewrites)
    for method, rewrite in rewrites.items():
        text = (folder / f"{method}.py").read_text()
        assert f'METHOD = "{method}"' in text
        assert rewrite.method == method


@pytest.mark.parametrize("language", ["triton", "cuda-cpp"])
def test_every_rewrite_is_a_method_of_the_wiki_for_its_language(language):
    for method in all_rewrites(language):
        front = yaml.safe_load(PAGES[method].read_text().split("---")[1])
        assert language in front["languages"], method


@pytest.mark.parametrize("language", ["triton", "cuda-cpp"])
def test_every_rewrite_has_a_kernel_on_which_it_fires_and_one_on_which_not(language):
    for kind in ("fires", "quiet"):
        assert {method for method, _ in cases(language, kind)} == set(all_rewrites(language))


@pytest.mark.parametrize(
    ("language", "title"), [("triton", "Triton"), ("cuda-cpp", "CUDA C\\+\\+")]
)
def test_document_and_registry(language, title):
    text = (ROOT / "docs" / "rewrites.md").read_text()
    section = re.split(rf"^### {title}$", text, flags=re.MULTILINE)[1].split("\n#")[0]
    rows = re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)
    assert rows == list(all_rewrites(language))
