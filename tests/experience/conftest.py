"""A small wiki, indexed once, for the tests that ask the index."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kbs_ingest.store import ingest
from tests.ingest.wiki_fixture import write_wiki

settings.register_profile(
    "busy machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy machine")  # how fast examples are made says nothing about kbs


@pytest.fixture(scope="session")
def small_wiki(tmp_path_factory) -> Path:
    """Pages of a few methods and chips."""
    return write_wiki(tmp_path_factory.mktemp("wiki") / "wiki")


@pytest.fixture(scope="session")
def small_index(tmp_path_factory, small_wiki) -> Path:
    """A home that holds the index of the small wiki and no experience."""
    home = tmp_path_factory.mktemp("indexed") / "home"
    ingest(home, [small_wiki], embedding_model="none")
    return home


@pytest.fixture
def indexed(small_index, tmp_path) -> Path:
    """A copy of that home for one test."""
    return Path(shutil.copytree(small_index, tmp_path / "home"))


@pytest.fixture
def reindex(small_wiki):
    """Index a home again, its experience included."""
    return lambda home: ingest(home, [small_wiki], embedding_model="none")
