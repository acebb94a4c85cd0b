"""The wiki as an audit sees it, and the planted citations."""

from __future__ import annotations

import pytest

from kbs_ingest.audit import Judge, load_knowledge
from tests.audit.planted import statements
from tests.conftest import WIKI


@pytest.fixture(scope="session")
def knowledge():
    return load_knowledge([WIKI])


@pytest.fixture(scope="session")
def judge(knowledge):
    return Judge(knowledge)


@pytest.fixture(scope="session")
def rows(wiki):
    return statements(wiki)
