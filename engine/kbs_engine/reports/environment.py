"""env_check.md: the machine of a run, and what each missing part costs."""

from __future__ import annotations

from kbs_engine.reports.text import bullets, document, section, table
from kbs_engine.results import Machine
from kbs_engine.run.measured import Env


def env_check(env: Env) -> str:
    """The report of env.json; a failed check stops the run with it."""
    rows = [
        (row.part, row.state, "yes" if row.required else "no", row.detail, row.costs, row.remedy)
        for row in env.findings
    ]
    packages = [f"{name} {version}" for name, version in sorted(env.packages.items())]
    return document(
        "Environment check",
        f"Verdict: {'PASS' if env.passed else 'FAIL'}",
        section("Machine", bullets(_machine(env.machine))),
        section("Parts", table(("Part", "State", "Required", "Found", "Costs", "Remedy"), rows)),
        section("Packages", bullets(packages)),
    )


def _machine(machine: Machine | None) -> list[str]:
    if machine is None:
        return ["nothing answered"]
    lines = [
        f"device: {machine.device}",
        f"name: {machine.gpu or 'N/A'}",
        f"uuid: {machine.gpu_uuid or 'N/A'}",
        f"architecture: {machine.arch or 'N/A'}",
        f"driver: {machine.driver or 'N/A'}",
        "counters: " + ("readable" if machine.counters else f"no ({machine.counters_why_not})"),
    ]
    tools = machine.tools | machine.versions
    return lines + [f"{name}: {version}" for name, version in sorted(tools.items())]
