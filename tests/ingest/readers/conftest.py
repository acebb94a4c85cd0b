"""Metric maps, the shipped report and a way to read a text as a report."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbs_ingest.metric_map import load_metric_map
from kbs_ingest.readers import read_report

ROOT = Path(__file__).resolve().parents[3]
REPORTS = ROOT / "tests/data/reports"


@pytest.fixture(scope="session")
def nvidia():
    return load_metric_map(ROOT / "gpu-wiki/metrics/nvidia.yaml")


@pytest.fixture(scope="session")
def amd():
    return load_metric_map(ROOT / "gpu-wiki/metrics/amd.yaml")


@pytest.fixture(scope="session")
def shipped():
    """Path of one form of the shipped report: ``shipped("raw.csv")``."""
    return lambda form: REPORTS / f"h100_triton_torch.{form}"


@pytest.fixture
def read_text(tmp_path, nvidia):
    """Write a text or bytes to a file and read it as a report."""

    def read(content, name="report.csv", metric_map=None):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_report(path, metric_map or nvidia)

    return read


@pytest.fixture
def one(read_text):
    """The only profile of a text."""

    def read(content, **options):
        report = read_text(content, **options)
        assert len(report.profiles) == 1
        return report.profiles[0]

    return read
