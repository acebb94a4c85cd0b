"""Keeps how long one iteration of the loop took: ``python -m tests.gpu.iteration OUT/iteration``.

``OUT`` is that of ``python -m tests.loop.record_gpu OUT iteration``. What is kept in
``recorded/iteration.json``: card, driver, date, the seconds of the version, and of each of its
jobs the wall seconds until it was finished, since whatever finished before it.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.gpu.store import FOLDER

NAMES = ("gpu", "driver", "date", "gpu_seconds", "version_seconds")


def main(folder: Path) -> int:
    """Keep it."""
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    lines = (folder / "run" / "events.jsonl").read_text(encoding="utf-8").splitlines()
    kept = {name: card[name] for name in NAMES}
    kept["jobs"] = jobs([json.loads(line) for line in lines])
    text = json.dumps(kept, indent=1) + "\n"
    (FOLDER / "iteration.json").write_text(text, encoding="utf-8")
    return 0


def jobs(events: list[dict[str, Any]], version: int = 1) -> list[dict[str, Any]]:
    """The jobs of a version, from its opening to its gate, and what lay between them."""
    out: list[dict[str, Any]] = []
    last: datetime | None = None
    for event in events:
        at, data = datetime.fromisoformat(event["at"]), event["data"]
        mine = data.get("version") == version
        if event["kind"] == "version_opened" and mine:
            last = at
        if last is None:
            continue
        if event["kind"] == "job_finished":
            out.append({"job": data["job_kind"], "seconds": (at - last).total_seconds()})
            last = at
        if event["kind"] == "gate_passed" and mine:
            out.append({"job": "reports and gate", "seconds": (at - last).total_seconds()})
            break
    return out


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
