"""Makes the helpers of this folder importable, and gives each test a wiki and a home."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from indexed import index
from wiki_fixture import write_wiki

from kbs_ingest.store import Store, open_store


@pytest.fixture
def wiki_root(tmp_path: Path) -> Path:
    """The fixture wiki on disk."""
    return write_wiki(tmp_path / "wiki")


@pytest.fixture
def empty_home(tmp_path: Path) -> Path:
    """An empty home folder."""
    return tmp_path / "home"


@pytest.fixture
def small_store(empty_home: Path, wiki_root: Path) -> Iterator[Store]:
    """The fixture wiki, indexed without a model."""
    index(empty_home, wiki_root)
    with open_store(empty_home) as opened:
        yield opened
