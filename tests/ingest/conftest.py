"""Makes the helpers of this folder importable, and gives each test a wiki and a home."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from wiki_fixture import write_wiki


@pytest.fixture
def wiki_root(tmp_path: Path) -> Path:
    """The fixture wiki on disk."""
    return write_wiki(tmp_path / "wiki")


@pytest.fixture
def empty_home(tmp_path: Path) -> Path:
    """An empty home folder."""
    return tmp_path / "home"
