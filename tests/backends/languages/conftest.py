"""Compiled kernels, shared by the tests of a run."""

from __future__ import annotations

import pytest

from kbs_backends.languages import CompileCache


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """One compile cache for the session."""
    return CompileCache(tmp_path_factory.mktemp("compiled"))
