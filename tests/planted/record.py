"""Record the planted kernels on a GPU host: build, check, time and profile them.

    python3 tests/planted/record.py --part all --out OUT

One failing kernel is written down and the rest goes on; see README.md beside this file.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODULES = ("cuda_cases", "triton_cases")
PARTS = ("build", "check", "time", "profile")
RESTARTS = 4

for _folder in (str(ROOT / "backends"), str(ROOT / "engine"), str(ROOT), str(HERE)):
    if _folder not in sys.path:
        sys.path.insert(0, _folder)

import record_ncu  # noqa: E402
import record_parts  # noqa: E402

from kbs_backends.ceilings.gpu_state import environment  # noqa: E402


# ---------------------------------------------------------------- cases
def load_modules(folder: Path) -> dict[str, Any]:
    """The case modules of ``folder``; one that is absent or broken is reported and left out."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    found = {}
    for name in MODULES:
        if not (folder / f"{name}.py").exists():
            print(f"{name}.py: not in {folder}; left out", file=sys.stderr)
            continue
        try:
            found[name] = importlib.import_module(name)
        except Exception:  # noqa: BLE001 - a broken module must not stop the other one
            traceback.print_exc()
            print(f"{name}.py: cannot be imported; left out", file=sys.stderr)
    return found


def select(modules: dict[str, Any], pattern: str) -> list[Any]:
    """All cases whose name fits ``pattern`` (``*`` and ``?``, several split by commas)."""
    globs = [f"{part}*" if not set(part) & set("*?[") else part for part in pattern.split(",")]
    cases = [case for module in modules.values() for case in module.CASES]
    return [c for c in cases if any(fnmatch.fnmatchcase(c.name, glob) for glob in globs)]


def build(modules: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Compile what has to be compiled ahead (the .cu files) into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = {}
    for name, module in modules.items():
        if not hasattr(module, "build"):
            continue
        began = time.monotonic()
        try:
            errors = module.build(folder) or {}
            result[name] = {"ok": not errors, "errors": {k: v[:1500] for k, v in errors.items()}}
        except Exception as error:  # noqa: BLE001 - reported; the other module goes on
            traceback.print_exc()
            result[name] = {"ok": False, "error": str(error)[:4000]}
        result[name]["seconds"] = round(time.monotonic() - began, 1)
    return result


# ---------------------------------------------------------------- child processes
def child_command(
    options: argparse.Namespace, part: str, names: list[str], journal: Path
) -> list[str]:
    """This script again, as the process that touches the GPU."""
    return [
        sys.executable, "-u", str(HERE / "record.py"), f"--child-{part}",
        "--folder", str(options.folder), "--build-dir", str(options.build_dir),
        "--only", ",".join(names), "--journal", str(journal), "--out", str(options.out),
        "--limit-s", f"{max(5.0, options.deadline - time.monotonic() - 15):.0f}",
    ]  # fmt: skip


def read_journal(path: Path) -> list[dict[str, Any]]:
    """Events of a child, without a last line that was cut off."""
    if not path.exists():
        return []
    events = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            events.append(json.loads(line))
        except json.JSONDecodeError:  # noqa: PERF203 - at most once
            break
    return events


def outcomes(events: list[dict[str, Any]], status: str) -> dict[str, dict[str, Any]]:
    """Result or error by case; a case that began and never ended took the child down."""
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        if event["state"] == "start":
            found[event["case"]] = {"error": f"the process ended during this case ({status})"}
        elif event["state"] == "done":
            found[event["case"]] = event["result"]
        else:
            found[event["case"]] = {"error": event["error"]}
    return found


def run_children(options: argparse.Namespace, part: str, names: list[str]) -> dict[str, Any]:
    """Run ``part`` in a child; where a kernel kills it, go on after that kernel in a new one."""
    results: dict[str, Any] = {}
    left = list(names)
    for _ in range(RESTARTS):
        if not left or time.monotonic() > options.deadline - 20:
            break
        with tempfile.TemporaryDirectory() as folder:
            journal = Path(folder) / "journal.jsonl"
            status, log = run_logged(options, child_command(options, part, left, journal))
            fresh = outcomes(read_journal(journal), status)
        if not fresh:
            print(f"the child did not start ({status}): {log[-1500:]}")
            why = {"error": f"the child did not start ({status}); see record.log"}
            return {**results, **dict.fromkeys(left, why)}
        results.update(fresh)
        left = [name for name in left if name not in results]
    for name in left:
        results[name] = {"error": "not run: out of time, or the process ended too often"}
    return results


def run_logged(options: argparse.Namespace, command: list[str]) -> tuple[str, str]:
    """Run ``command``; its output goes to the log and the screen. Returns status and output."""
    seconds = max(5.0, options.deadline - time.monotonic())
    if shutil.which(command[0]) is None:
        return f"{command[0]} is not on PATH", ""
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        env={**os.environ, "KBS_PLANTED_BUILD": str(options.build_dir)},
    )
    try:
        text, _ = child.communicate(timeout=seconds)
        status = f"exit {child.returncode}"
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # ncu and the process under it
        text, _ = child.communicate()
        status = f"stopped after {seconds:.0f} s"
    with (options.out / "record.log").open("a", encoding="utf-8") as log:
        log.write(f"$ {' '.join(command)[:600]}\n{text}\n[{status}]\n")
    shown = [line for line in text.splitlines() if not re.match(r"==(PROF|CASE)==", line)]
    print("\n".join(shown[-40:]))
    return status, text


def child_main(options: argparse.Namespace, part: str) -> int:
    """The process on the GPU: the cases named, in order."""
    import torch

    torch.cuda.init()
    modules = load_modules(options.folder)
    for module in modules.values():
        if hasattr(module, "use_build"):
            module.use_build(options.build_dir)
    chosen = {case.name: case for case in select(modules, "*")}
    cases = [chosen[name] for name in options.only.split(",") if name in chosen]
    status = record_parts.run_part(part, cases, options.journal, options.deadline)
    if part == "time" and status == 0:
        timer = record_parts.empty_pair_ns(torch)
        record_parts.Journal(options.journal).write("_timer_alone", "done", result=timer)
    return status


# ---------------------------------------------------------------- parts
def write(path: Path, data: Any) -> None:
    """Write JSON for people: indented, with a final newline."""
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def part_check_or_time(options: argparse.Namespace, part: str, names: list[str]) -> int:
    """Check or time in children; the answer goes to ``check.json`` or ``times.json``."""
    before = environment(options.command)
    cases = run_children(options, part, names)
    target = options.out / {"check": "check.json", "time": "times.json"}[part]
    timer = cases.pop("_timer_alone", None)
    record = {**before, "gpu_after": environment("")["gpu"], "cases": cases}
    if timer:
        record["timer_alone"] = timer
    write(target, record)
    bad = {n: c for n, c in cases.items() if "error" in c or c.get("ok") is False}
    print(f"{part}: {len(cases) - len(bad)} of {len(names)} cases went well")
    for name, case in bad.items():
        print(f"  {name}: {json.dumps(case)[:700]}")
    return len(bad)


def part_profile(options: argparse.Namespace, names: list[str]) -> int:
    """One ncu call over a child; then CSV and the map of launches."""
    metrics = record_ncu.known_metrics(record_ncu.METRICS)
    before = environment(options.command)
    done: dict[str, Any] = {}
    failed: dict[str, Any] = {}
    reports: list[dict[str, Any]] = []
    left = list(names)
    for attempt in range(RESTARTS):
        if not left or time.monotonic() > options.deadline - 20:
            break
        report = options.out / ("planted.ncu-rep" if not reports else f"planted_{attempt}.ncu-rep")
        entry = profile_once(options, left, report, metrics, done, failed)
        if entry:
            reports.append(entry)
        elif metrics:
            metrics = []  # an ncu that knows a counter may still refuse it: go on without
        seen = set(done) | set(failed)
        left = [name for name in left if name not in seen]
    failed |= dict.fromkeys(left, "not run")
    sections = list(record_ncu.SECTIONS)
    record = {**before, "gpu_after": environment("")["gpu"]}
    record |= {"sections": sections, "metrics": metrics, "reports": reports, "failed": failed}
    write(options.out / "launches.json", record)
    print(f"profile: {len(done)} of {len(names)} cases in {len(reports)} report(s)")
    for name, error in failed.items():
        print(f"  {name}: {str(error)[:300]}")
    return len(failed)


def profile_once(
    options: argparse.Namespace,
    names: list[str],
    report: Path,
    metrics: list[str],
    done: dict[str, Any],
    failed: dict[str, Any],
) -> dict[str, Any] | None:
    """Profile ``names`` into ``report``; None where ncu wrote none."""
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal.jsonl"
        child = child_command(options, "profile", names, journal)
        status, log = run_logged(options, record_ncu.profile_command(report, metrics, child))
        fresh = outcomes(read_journal(journal), status)
    if not report.exists():
        print(f"ncu wrote no report ({status}): {log[-1500:]}")
        return None
    good = {name: result for name, result in fresh.items() if "error" not in result}
    done.update(good)
    failed.update({name: result["error"] for name, result in fresh.items() if name not in good})
    entry: dict[str, Any] = {"report": report.name, "status": status}
    try:
        target = options.out / f"{report.stem}.raw.csv.gz"
        launches = record_ncu.export_csv(report, target)
    except (RuntimeError, OSError, KeyError, subprocess.TimeoutExpired) as error:
        return {**entry, "error": str(error), "cases": list(good)}
    counts = [(name, int(good[name]["kernels_expected"])) for name in good]
    mapped, way = record_ncu.map_launches(launches, counts, log)
    return {**entry, "csv": target.name, "aligned_by": way, "launches": mapped}


# ---------------------------------------------------------------- command line
def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", default="all", help="build, check, time, profile (commas) or all")
    parser.add_argument("--out", type=Path, default=Path("planted-out"), help="results go here")
    parser.add_argument("--only", default="*", help="case names or globs, split by commas")
    parser.add_argument("--folder", type=Path, default=HERE, help="folder of the case modules")
    parser.add_argument(
        "--build-dir", type=Path, default=Path(tempfile.gettempdir()) / "kbs-planted-build"
    )
    parser.add_argument("--limit-s", type=float, default=560, help="stop children after this time")
    parser.add_argument("--list", action="store_true", help="print the cases; needs no GPU")
    parser.add_argument("--journal", type=Path, help=argparse.SUPPRESS)
    for part in PARTS[1:]:
        parser.add_argument(f"--child-{part}", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    for name in ("out", "folder", "build_dir"):
        setattr(options, name, getattr(options, name).resolve())
    options.parts = list(PARTS) if options.part == "all" else options.part.split(",")
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error(f"--part {','.join(unknown)}: choose among {', '.join(PARTS)} and all")
    options.deadline = time.monotonic() + options.limit_s
    shown = arguments if arguments is not None else sys.argv[1:]
    options.command = "python3 tests/planted/record.py " + " ".join(
        "DIR" if index and shown[index - 1] in {"--out", "--build-dir"} else word
        for index, word in enumerate(shown)
    )
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the parts asked for; 0 only when every case went well."""
    options = parse(arguments)
    os.environ["KBS_PLANTED_BUILD"] = str(options.build_dir)
    for part in PARTS[1:]:
        if getattr(options, f"child_{part}"):
            return child_main(options, part)
    modules = load_modules(options.folder)
    names = [case.name for case in select(modules, options.only)]
    if options.list:
        print("\n".join(names))
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    failures = 0
    for part in options.parts:
        if part == "build" or not options.build_dir.exists():
            built = build(modules, options.build_dir)
            print("build:", json.dumps(built)[:3000])
            failures += sum(not entry["ok"] for entry in built.values())
        if part in {"check", "time"}:
            failures += part_check_or_time(options, part, names)
        elif part == "profile":
            failures += part_profile(options, names)
        print(f"[{part}] {options.limit_s - (options.deadline - time.monotonic()):.0f} s used")
    write(options.out / "env.json", environment(options.command))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
