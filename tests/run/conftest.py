"""A small run folder, made as the loop makes one, with samples drawn from a seed."""

from __future__ import annotations

import shutil

import pytest

from tests.run.folder import Builder


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A run whose v0 passed its gate and whose v1 stands before its own; never changed."""
    root = tmp_path_factory.mktemp("made")
    builder = Builder(root / "run", home=root / "home")
    builder.version(0)
    builder.passed(0)
    builder.version(1)
    builder.close()
    return root


@pytest.fixture
def run_at(made, tmp_path):
    """A copy of that run at the same path under the test's own folder, without its head."""
    shutil.copytree(made / "run", tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def build(tmp_path):
    """Builders of runs with other settings."""

    def make(**settings):
        return Builder(tmp_path / "built", home=tmp_path / "home", **settings)

    return make
