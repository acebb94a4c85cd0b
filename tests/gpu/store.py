"""Keeps what GPU sessions brought home: ``python -m tests.gpu.store OUT…``.

Several sessions of one card are laid together: of rows the later one stays, of comparisons all.
Rows that a session could not run (a package was not there) are no result and are left out. What
is kept names files, not folders of the machine.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from kbs_backends.device.recording import Writer, read_recording
from tests.attacks.recording import without_paths
from tests.gpu import languages, pooled
from tests.gpu.session import Session
from tests.unpacking import unpack

FOLDER = Path(__file__).resolve().parent / "recorded"
ALL_KEPT = {"self_comparison": pooled.self_comparisons, "power": pooled.powers}
"""Parts of which comparisons are laid together, where the same harness made them."""


def main(folders: list[str]) -> int:
    """Store everything in the folders given, oldest first."""
    for folder in map(Path, folders):
        for path in sorted(folder.glob("*.json")):
            _keep(path)
        if (folder / "languages.json").is_file():
            _keep_recording(folder / "recording.txz")
    with tempfile.TemporaryDirectory() as work:
        table = {**stored("languages"), "data": replayed(Path(work))}
    (FOLDER / "languages.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    return 0


def replayed(work: Path) -> list[dict[str, Any]]:
    """The rows of the table of languages, once more from the recording."""
    known = stored("languages")["data"]
    session = Session(
        out=work / "out", work=work, seconds=1e6, dry=False, replay=unpacked(work),
        rows=frozenset(f"{row['task']}:{row['language']}" for row in known),
    )  # fmt: skip
    languages.run(session)
    rows = json.loads((work / "out" / "languages.json").read_text(encoding="utf-8"))["data"]
    dates = {(row["task"], row["language"]): row["date"] for row in known}
    return [{**row, "date": dates[row["task"], row["language"]]} for row in rows]


def stored(name: str) -> dict[str, Any]:
    """What is kept of one part."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


def unpacked(folder: Path) -> Path:
    """The kept recording, as a folder that can be replayed."""
    unpack(FOLDER / "recording.txz", folder)
    return folder / "recording"


def _keep(path: Path) -> None:
    FOLDER.mkdir(exist_ok=True)
    new = json.loads(path.read_text(encoding="utf-8"))
    target = FOLDER / path.name
    if path.stem == "languages":
        old = stored("languages")["data"] if target.exists() else []
        rows = {(row["task"], row["language"]): row for row in old}
        for row in new["data"]:
            if "skipped" not in row and "is not installed" not in row["check"].get("detail", ""):
                rows[row["task"], row["language"]] = {**row, "date": new["date"]}
        new["data"] = list(rows.values())
    if path.stem in ALL_KEPT and target.exists():
        old = stored(path.stem)
        if _of_one_harness(old, new):
            data = ALL_KEPT[path.stem]([old["data"], new["data"]])
            new["data"] = json.loads(msgspec.json.encode(data))
            new["seconds"] = round(old["seconds"] + new["seconds"], 1)
            new["earlier"] = old.get("earlier", [])
        elif path.stem == "self_comparison":
            new["earlier"] = [
                *old.get("earlier", []),
                {"date": old["date"], **old["data"]["summary"]},
            ]
    target.write_text(json.dumps(new, indent=1) + "\n", encoding="utf-8")


def _of_one_harness(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether the comparisons of two sessions may be counted together."""
    cards = {one["provenance"].get("gpu") for one in (old, new)}
    return len(cards) == 1 and old["data"].get("harness") == new["data"].get("harness", -1)


def _keep_recording(path: Path) -> None:
    with tempfile.TemporaryDirectory() as work:
        fresh, merged = Path(work) / "new", Path(work) / "recording"
        if (FOLDER / "recording.txz").exists():
            unpacked(Path(work))
        unpack(path, fresh)
        _append(fresh / "recording", merged)
        with tarfile.open(FOLDER / "recording.txz", "w:xz") as archive:
            archive.add(merged, arcname="recording")


def _append(fresh: Path, merged: Path) -> None:
    lines = [line for line in read_recording(fresh) if line.result.failure is None]
    old = read_recording(merged) if merged.exists() else ()
    known = {line.result.job_key: line.result.value for line in old}
    shutil.copytree(fresh / "blobs", merged / "blobs", dirs_exist_ok=True)
    writer = Writer(merged)
    for line in lines:
        plain = _plain(line.result)
        if known.get(line.result.job_key) != plain.value:  # the last answer is the one replayed
            writer.append(line.job, plain)


def _plain(result: Any) -> Any:
    text = msgspec.json.encode(result).decode()
    return msgspec.json.decode(re.sub(r'"(?:[^"\\]|\\.)*"', _named, text), type=type(result))


def _named(match: re.Match[str]) -> str:
    return without_paths(match.group(0))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
