"""Where everything of a run stands (loop.md, "Run folder"), and nothing else knows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

VERSION: Final = re.compile(r"^v(0|[1-9]\d*)$")


class Layout:
    """Paths of a run folder. Makes nothing."""

    def __init__(self, root: Path) -> None:
        """Keep the run's folder."""
        self.root = root
        self.readme = root / "README.md"
        self.state = root / "state.json"
        self.journal = root / "events.jsonl"
        self.current = root / "current_iteration.txt"
        self.env = root / "env.json"
        self.env_check = root / "env_check.md"
        self.reference = root / "ref.py"
        self.test_kernel = root / "test_kernel.py"
        self.baseline_report = root / "baseline_report.md"
        self.memory = root / "memory"
        self.benchmark = root / "benchmark.md"
        self.benchmark_data = root / "benchmark.json"
        self.final_report = root / "final_report.md"
        self.summary = root / "summary.md"
        self.html = root / "report.html"
        self.hidden = root / ".kbs"
        self.blobs = self.hidden / "blobs"
        self.results = self.hidden / "results"
        self.lock = self.hidden / "lock"

    def version(self, number: int) -> VersionLayout:
        """Paths of one version."""
        return VersionLayout(self.root / f"v{number}", number)

    def memory_record(self, number: int) -> Path:
        """The memory record of one version."""
        return self.memory / f"v{number}.json"

    def result(self, job_key: str) -> Path:
        """The stored answer of one job."""
        return self.results / f"{job_key}.json"

    def versions(self) -> tuple[int, ...]:
        """Numbers of the version folders that are there, in order."""
        if not self.root.is_dir():
            return ()
        found = (VERSION.match(path.name) for path in self.root.iterdir() if path.is_dir())
        return tuple(sorted(int(match[1]) for match in found if match))


class VersionLayout:
    """Paths of one version's folder. Makes nothing."""

    def __init__(self, root: Path, number: int) -> None:
        """Keep the folder and its number."""
        self.root = root
        self.number = number
        self.methods = root / "methods.json"
        self.bench = root / "bench.json"
        self.correctness = root / "correctness.md"
        self.profile = root / "profile.ncu-rep"
        self.ncu_summary = root / "ncu_summary.md"
        self.ncu_details = root / "ncu_details.md"
        self.ncu_top = root / "ncu_top.json"
        self.search = root / "search.json"
        self.sass_check = root / "sass_check.json"
        self.attribution = root / "attribution.json"
        self.roofline = root / "roofline.json"
        self.evidence = root / "kbs_evidence.md"
        self.request = root / "request.json"
        self.plan = root / "plan.md"
        self.hypothesis = root / "hypothesis.txt"
        self.analysis = root / "analysis.md"
        self.branches = root / "branches"
        self.ablations = root / "ablations"

    def kernel(self, suffix: str) -> Path:
        """The champion's source."""
        return self.root / f"kernel{suffix}"

    def branch(self, number: int) -> PartLayout:
        """Folder of one branch."""
        return PartLayout(self.branches / f"b{number}")

    def ablation(self, name: str) -> PartLayout:
        """Folder of one ablated variant, ``no_<method>`` or ``off_a+b``."""
        return PartLayout(self.ablations / name)


class PartLayout:
    """Paths of one branch or ablation."""

    def __init__(self, root: Path) -> None:
        """Keep the folder."""
        self.root = root
        self.bench = root / "bench.json"
        self.static = root / "static.json"
        self.stderr = root / "stderr.txt"

    def kernel(self, suffix: str) -> Path:
        """The variant's source."""
        return self.root / f"kernel{suffix}"
