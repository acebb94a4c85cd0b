"""``.ncu-rep`` and ``.ncu-repz`` through NVIDIA's ncu_report package, in a subprocess."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar

import msgspec

import kbs_ingest
from kbs_engine.decoding import decode_json
from kbs_engine.errors import ReportError
from kbs_engine.profiles import Report, VendorRule
from kbs_ingest.readers.derived import inputs
from kbs_ingest.readers.launches import Launch, to_profiles
from kbs_ingest.readers.ncu_worker import NO_PACKAGE
from kbs_ingest.readers.vendor_rules import plain_text

if TYPE_CHECKING:
    from kbs_engine.metrics import MetricMap

T = TypeVar("T")

MAGICS: Final = (b"NVR\0", b"\x28\xb5\x2f\xfd")
"""First bytes of ``.ncu-rep``, and of zstd, in which ``.ncu-repz`` is packed."""
TIMEOUT_S: Final = 120.0
_ROOT: Final = Path(kbs_ingest.__file__).resolve().parents[1]
_EXPORT: Final = "or export it where it was recorded: ncu --import {} --page raw --csv"
_SCOPES: Final = {1: "local", 2: "global"}


class _Message(msgspec.Struct):
    title: str = ""
    message: str = ""


class _Speedup(msgspec.Struct):
    type: int = 0
    speedup: float | None = None


class _Rule(msgspec.Struct):
    rule: str
    section: str
    message: _Message
    speedup: _Speedup


class _Action(msgspec.Struct):
    name: str
    kernel: bool
    chip: str
    compute_capability: str
    values: dict[str, tuple[float, str]]
    opcodes: dict[str, float]
    functions: dict[str, float]
    sections: list[str]
    rules: list[_Rule]


class _Answer(msgspec.Struct):
    reader: str
    launches: list[_Action]


def read(path: Path, metric_map: MetricMap, *, timeout_s: float = TIMEOUT_S) -> Report:
    """Read every kernel and range of the report; ReportError when the native reader fails."""
    wanted = msgspec.json.encode(sorted(inputs(metric_map.vendor_names())))
    answer = ask(path, "kbs_ingest.readers.ncu_worker", wanted, timeout_s, _Answer)
    if not answer.launches:
        raise ReportError(
            "the report holds no kernel that can be read",
            where=str(path),
            remedy="profile again: the filters matched no kernel, or the file is damaged",
        )
    launches = [_launch(number, action) for number, action in enumerate(answer.launches)]
    return Report(
        path=str(path),
        format="ncu-rep",
        profiles=to_profiles(launches, metric_map, str(path)),
        notes=(f"read with ncu_report {answer.reader}",) if answer.reader else (),
    )


def _launch(number: int, action: _Action) -> Launch:
    launch = Launch(
        number=number,
        name=action.name,
        values=action.values,
        chip=action.chip or None,
        compute_capability=action.compute_capability or None,
        sections=sorted(action.sections),
        rules=[_rule(rule) for rule in action.rules if rule.message.message],
        opcodes=action.opcodes,
        functions=action.functions,
    )
    if not action.kernel:
        launch.flags.append("a range or graph, not one kernel: counters cover all its work")
    return launch


def _rule(rule: _Rule) -> VendorRule:
    return VendorRule(
        rule=rule.rule,
        title=rule.message.title,
        message=plain_text(rule.message.message),
        section=rule.section,
        estimated_speedup_pct=rule.speedup.speedup,
        scope=_SCOPES.get(rule.speedup.type, ""),
    )


def ask(path: Path, worker: str, wanted: bytes, timeout_s: float, answer: type[T]) -> T:
    """Run a worker on the report in a process of its own; ReportError when it fails."""
    command = [sys.executable, "-m", worker, str(path.resolve())]
    try:
        done = subprocess.run(
            command, input=wanted, capture_output=True, timeout=timeout_s, cwd=_ROOT, check=False
        )
    except subprocess.TimeoutExpired as fault:
        message = f"NVIDIA's report reader did not finish within {timeout_s:g} s"
        raise _error(path, message, "the file may be damaged; profile again, ") from fault
    except OSError as fault:
        raise _error(path, f"the report reader cannot start: {fault}", "") from fault
    if done.returncode:
        _explain(path, done.returncode, done.stderr.decode("utf-8", "replace"))
    try:
        return decode_json(done.stdout, answer)
    except msgspec.DecodeError as fault:
        message = f"NVIDIA's report reader gave no usable answer ({fault})"
        raise _error(path, message, "the file may be damaged; profile again, ") from fault


def _explain(path: Path, status: int, complaint: str) -> NoReturn:
    lines = complaint.strip().splitlines()
    last = lines[-1].strip() if lines else "no message"
    if status == NO_PACKAGE:
        message = f"a report file needs NVIDIA's ncu_report package ({last})"
        raise _error(path, message, "pip install ncu-report, ")
    if status < 0:
        message = f"NVIDIA's report reader crashed on it (signal {-status})"
        raise _error(path, message, "the file is damaged or cut off; profile again, ")
    message = f"NVIDIA's report reader refused it: {last}"
    raise _error(path, message, "profile again, update ncu-report if the file is newer, ")


def _error(path: Path, message: str, remedy: str) -> ReportError:
    return ReportError(message, where=str(path), remedy=remedy + _EXPORT.format(path.name))
