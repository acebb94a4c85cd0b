"""Coverage-guided fuzzing of the text readers: a report or a ReportError, never anything else.

    python tests/ingest/readers/fuzz_atheris.py [-runs=100000] [-max_len=4096] [FOLDER of inputs]

Options are those of libFuzzer. The first inputs are the layouts of the tests. Needs `atheris`,
which is no dependency of kbs; the tests skip their short run without it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parents[3]
for part in ("", "engine", "ingest", "backends"):
    sys.path.insert(0, str(ROOT / part))

with atheris.instrument_imports(include=["kbs_ingest.readers"]):
    from kbs_ingest.metric_map import load_metric_map
    from kbs_ingest.readers import read_report

from kbs_engine.errors import ReportError  # noqa: E402
from kbs_engine.profiles import Report  # noqa: E402
from tests.ingest.readers import layouts as L  # noqa: E402, N812

MAPS = [load_metric_map(ROOT / f"gpu-wiki/metrics/{name}.yaml") for name in ("nvidia", "amd")]
SEEDS = (L.DETAILS_2020, L.DETAILS_2023, L.TEXT_2020, L.TEXT_METRICS, L.SUMMARY, L.COUNTERS_V3,
         L.TRACE_V3, L.PMC_PERF)  # fmt: skip


def one_input(path: Path, data: bytes) -> None:
    """Read one file; the first byte chooses the vendor's metric map."""
    path.write_bytes(data[1:])
    try:
        report = read_report(path, MAPS[data[0] % 2 if data else 0])
    except ReportError as error:
        fault = error
    else:
        fault = None
        assert isinstance(report, Report)
        assert report.profiles
    assert fault is None or (fault.message and fault.where and fault.remedy)


def main() -> None:
    """Run libFuzzer; it ends the process."""
    with tempfile.TemporaryDirectory(prefix="kbs-fuzz-") as name:
        folder = Path(name)
        corpus = folder / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(SEEDS):
            for vendor in (b"\0", b"\1"):
                (corpus / f"{number}-{vendor[0]}").write_bytes(vendor + seed.encode())
        path = folder / "input.csv"
        # a hang is a fault: no input may take longer than this many seconds
        arguments = [sys.argv[0], "-timeout=20", *sys.argv[1:], str(corpus)]
        atheris.Setup(arguments, lambda data: one_input(path, data))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
