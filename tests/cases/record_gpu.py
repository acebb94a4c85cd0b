"""Records the case studies: ``python -m tests.cases.record_gpu OUT/cases.json [--only ID…]``.

Needs a home with an index (``kbs ingest``; KBS_HOME). Each case runs in a process of its own and
its record is written when it ends, so that nothing that happens to one case loses another.
Beside cases.json stand, per case, ``ID/log.txt`` and ``ID.txz`` with the run folder, the
recording that ``--device recorded:DIR`` replays, and the benches.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from tests.cases.case_list import CaseStudy, case_studies
from tests.cases.compare import HOW
from tests.cases.one_case import Ways, run_case
from tests.cases.records import CaseRecord, add_case, read_recording

LIMIT_S = 560.0
"""Wall seconds of a case: its run is interrupted before that, and counts as far as it got."""
GRACE_S = 30.0
"""Later than that it is killed; what was recorded by then stands."""


def arguments(words: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.cases.record_gpu", description=__doc__)
    parser.add_argument("out", type=Path, help="cases.json to write")
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="cases; default all")
    parser.add_argument("--missing", action="store_true", help="only cases without a record")
    parser.add_argument("--compare", default="", help=f"{','.join(HOW)}: the same budget otherwise")
    parser.add_argument("--knowledge", choices=("on", "off"), default="on")
    parser.add_argument("--gpu-seconds", type=float, default=90.0, help="budget of each case")
    parser.add_argument("--iterations", type=int, default=4, help="versions at most")
    parser.add_argument("--device", default="auto", help="auto, cuda:1, host")
    parser.add_argument("--dry", action="store_true", help="small dims on the CPU; no figure")
    parser.add_argument("--limit-s", type=float, default=LIMIT_S, help="wall time of a case")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args(words)
    known = [case.id for case in case_studies()]
    unknown = [name for name in chosen.only if name not in known]
    if unknown:
        parser.error(f"{', '.join(unknown)}: no such case; there are {', '.join(known)}")
    odd = set(chosen.compare.split(",")) - {"", *HOW}
    if odd:
        parser.error(f"--compare {', '.join(sorted(odd))}: there are {', '.join(HOW)}")
    return chosen


def main(words: list[str] | None = None) -> int:
    """Run the cases; 1 when one of them came to no result."""
    chosen = arguments(words)
    wanted = [case for case in case_studies() if not chosen.only or case.id in chosen.only]
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    if chosen.one:
        _one(wanted[0], chosen)
        return 0
    if chosen.missing:
        wanted = [case for case in wanted if (old := _record(case, chosen)) is None or old.error]
    bad = 0
    for case in wanted:
        began, before = time.monotonic(), _record(case, chosen)
        why = _apart(case, chosen)
        if why:
            bad += 1
            add_case(chosen.out, broken(case, chosen, before, why), dry=chosen.dry)
        _tell(case, chosen, time.monotonic() - began)
    return 1 if bad else 0


def _apart(case: CaseStudy, chosen: argparse.Namespace) -> str:
    """One case in a process of its own; why it came to no result, empty when it did."""
    log = chosen.out.parent / case.id / "log.txt"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable, "-m", "tests.cases.record_gpu", str(chosen.out), "--only", case.id, "--one",
        "--compare", chosen.compare, "--knowledge", chosen.knowledge, "--device", chosen.device,
        "--gpu-seconds", str(chosen.gpu_seconds), "--iterations", str(chosen.iterations),
        "--limit-s", str(chosen.limit_s), *(["--dry"] if chosen.dry else []),
    ]  # fmt: skip
    with log.open("w", encoding="utf-8") as file:
        child = subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        try:
            code = child.wait(timeout=chosen.limit_s + GRACE_S)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            child.wait()
            return f"took more than {chosen.limit_s:g} s"
    if code == 0:
        return ""
    return f"exit {code}: {log.read_text(encoding='utf-8', errors='replace')[-1500:]}"


def _one(case: CaseStudy, chosen: argparse.Namespace) -> None:
    """One case in this process; its record is in the file when it returns."""
    ways = Ways(
        device="host" if chosen.dry else chosen.device,
        dry=chosen.dry,
        gpu_seconds=chosen.gpu_seconds,
        limit_s=chosen.limit_s,
        iterations=chosen.iterations,
        knowledge=chosen.knowledge == "on",
        compare=tuple(word for word in chosen.compare.split(",") if word),
    )
    with tempfile.TemporaryDirectory(prefix="kbs-case-") as folder:
        work = Path(folder)

        def keep(record: Any) -> None:
            add_case(chosen.out, record, dry=chosen.dry)

        try:
            run_case(case, ways, work, date=_today(), keep=keep)
        finally:
            name = case.id if ways.knowledge else f"{case.id}_without_knowledge"
            with tarfile.open(chosen.out.parent / f"{name}.txz", "w:xz") as archive:
                archive.add(work, arcname=case.id, filter=_kept)


def _kept(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Everything of a case but the copy of the index; its outcomes stay."""
    return None if entry.name.split("/")[1:3] == ["home", "index"] else entry


def _record(case: CaseStudy, chosen: argparse.Namespace) -> CaseRecord | None:
    """What the file holds of a case."""
    recording = read_recording(chosen.out)
    if chosen.knowledge == "off":
        return recording.without_knowledge.get(case.id)
    compared = recording.with_others.get(case.id) if chosen.compare else None
    return compared or recording.cases.get(case.id)


def broken(
    case: CaseStudy, chosen: argparse.Namespace, before: CaseRecord | None, why: str
) -> CaseRecord:
    """What stands of a case that did not run to its end: its run, where that ended."""
    now = _record(case, chosen)
    if now is not None and now != before and not now.error:
        return msgspec.structs.replace(now, incomplete=why)
    knowledge = chosen.knowledge == "on"
    return CaseRecord(id=case.id, date=_today(), device="", knowledge=knowledge, error=why)


def _today() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())


def _tell(case: CaseStudy, chosen: argparse.Namespace, took: float) -> None:
    row = _record(case, chosen)
    if row is None or row.error:
        told = f"no result: {row.error.strip().splitlines()[-1] if row else 'no record'}"
    else:
        over = f"{row.over_v0.ratio:.2f}× over v0" if row.over_v0 else "no better than v0"
        told = f"{row.device}: {over}, {', '.join(row.origin) or 'v0 itself'}"
    print(f"[{took:6.1f} s] {case.id}: {told}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
