"""Every language on five tasks: checked, compiled, disassembled, timed against eager, profiled."""

from __future__ import annotations

from pathlib import Path

from kbs_engine.jobs import (
    BaselineRef,
    Check,
    Compile,
    Disassemble,
    ProfileJob,
    Time,
    TimingSettings,
)  # fmt: skip
from kbs_engine.results import Machine, Timed, read
from kbs_engine.timing import compare, summary
from tests.gpu.session import ROOT, Session, told

TASKS = ("softmax", "gemm", "layernorm", "reduction", "attention")
FILES = {
    "kernel.cu": "cuda-cpp", "kernel_cutlass.cu": "cutlass", "kernel_triton.py": "triton",
    "kernel_cute.py": "cute-dsl",
}  # fmt: skip
SMALL = {
    "softmax": {"M": 8, "N": 64}, "gemm": {"M": 32, "N": 32, "K": 32},
    "layernorm": {"M": 8, "N": 64}, "reduction": {"M": 8, "N": 64},
    "attention": {"B": 1, "H": 1, "S": 32, "D": 32},
}  # fmt: skip
SECONDS_A_KERNEL = 25


def run(session: Session) -> None:
    machine = session.machine
    rows = []
    for name in TASKS:
        folder = ROOT / "tests/kernels" / name
        for file, language in FILES.items():
            path = folder / file
            if not path.is_file() or (session.dry and language != "triton"):
                continue
            if not session.wanted(name, language):
                continue
            if session.left_s < SECONDS_A_KERNEL:
                rows.append({"task": name, "file": file, "skipped": "no time left"})
                continue
            rows.append(_row(session, machine, name, path, language))
            line = rows[-1]
            print(f"  {name} {language}: {line['check'].get('reason') or 'pass'}"
                  f" {line.get('median_ns')}", flush=True)  # fmt: skip
            session.write("languages", rows, provenance=machine)


def _row(session: Session, machine: Machine, name: str, path: Path, language: str) -> dict:
    source = session.source(path, language)
    dims = SMALL[name] if session.dry else {}
    task = session.task(path.parent / "ref.py", dims)
    check = told(session.run(Check(source=source, task=task, rounds=2 if session.dry else 10)))
    row = {"task": name, "file": path.name, "language": language, "check": check}
    arch = machine.arch or "sm_90a"
    row["compile"] = told(session.run(Compile(source=source, arch=arch, task=task)))
    listing = told(session.run(Disassemble(source=source, arch=arch, task=task)))
    row["functions"] = [f["name"] for f in listing.get("functions", ())]
    if not check.get("passed"):
        return row
    # torch.compile takes seconds to compile: one language of a task is timed against it
    both = language == "triton" and not session.dry
    baselines = ("pytorch-eager", "torch-compile") if both else ("pytorch-eager",)
    arms = (source, *(BaselineRef(name=one) for one in baselines))
    settings = TimingSettings(trials=4 if session.dry else 60, warmup_ms=0 if session.dry else 25)
    timed = session.run(Time(arms=arms, task=task, settings=settings,
                             fresh_processes=1 if session.dry else 2))  # fmt: skip
    row |= _times(timed)
    profile = told(session.run(ProfileJob(source=source, task=task)))
    row["profile"] = {k: profile.get(k) for k in ("mode", "report_sha256", "notes", "failure")}
    return row


def _times(result) -> dict:
    if result.value is None:
        return {"time": told(result)}
    timed = read(result, Timed)
    out: dict = {"arms": []}
    for index, arm in enumerate(timed.arms):
        line = {"name": arm.name, "reason": arm.reason, "detail": arm.detail[:300],
                "floor_ns": arm.floor_ns, "cold_first_call_ns": arm.cold_first_call_ns}  # fmt: skip
        if arm.reason is None:
            line["timing"] = summary(arm.samples_ns)
            if index and timed.arms[0].reason is None:
                line["kernel_is_faster_by"] = compare(timed, 0, index)
        out["arms"].append(line)
    if timed.arms[0].reason is None:
        out["median_ns"] = summary(timed.arms[0].samples_ns).median_ns
    return out
