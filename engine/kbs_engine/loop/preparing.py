"""Before anything is measured: the machine, the work, cited specs, targets, the run's README."""

from __future__ import annotations

import msgspec

from kbs_engine.jobs import Count, Probe, Result
from kbs_engine.loop.actions import MakeFront, RecordEpoch
from kbs_engine.loop.asks import Describe, Described
from kbs_engine.loop.ledger import Ledger, Steps, put
from kbs_engine.loop.measuring import run_jobs
from kbs_engine.results import Counted, Machine, read
from kbs_engine.run.records import Env, EnvFinding


def prepare(ledger: Ledger) -> Steps:
    """Probe, count and describe; False when the run cannot begin, with the report of why."""
    yield ledger.progress("prepare", 0, "what this machine is")
    (probed,) = yield from run_jobs(ledger, [Probe()], "probe", 0)
    ledger.machine = machine = read(probed, Machine)
    (counted,) = yield from run_jobs(
        ledger, [Count(task=ledger.task)], "count the work", 0, optional=("count",)
    )
    _count(ledger, counted)
    _settle(ledger, machine)
    described: Described = yield Describe(
        settings=ledger.settings, machine=machine, counted=ledger.counted
    )
    ledger.described, ledger.chip = described, described.limits
    _settle(ledger, machine)
    yield RecordEpoch(number=0, settings=ledger.settings)
    env = environment(ledger, probed.provenance.date)
    yield put("env.json", env)
    yield ledger.save()
    yield MakeFront(described=described, work=ledger.counted.work if ledger.counted else None)
    if described.missing and not ledger.settings.extra.get("go_on_without_specs"):
        missing = ", ".join(described.missing)
        told = (
            f"the wiki lacks {missing}; add them to gpu-wiki, or begin again with "
            "--placeholder metric=value, which is marked as such everywhere"
        )
        ledger.update(ended="environment", loop={"because": told})
        yield ledger.save()
        yield ledger.progress("prepare", 0, told, done=True)
        return False
    yield ledger.progress("prepare", 0, machine.gpu, done=True)
    return True


def prepare_epoch(ledger: Ledger, number: int) -> Steps:
    """Work, specs and targets under the new constraints, and the README that tells them.

    ``number`` is the epoch's first version. What the machine is stays as it was found.
    """
    machine = ledger.machine
    if machine is None:
        raise ValueError("the machine was not probed")
    (counted,) = yield from run_jobs(
        ledger, [Count(task=ledger.task)], "count the work again", number, optional=("count",)
    )
    _count(ledger, counted)
    described: Described = yield Describe(
        settings=ledger.settings, machine=machine, counted=ledger.counted
    )
    ledger.described, ledger.chip = described, described.limits
    yield ledger.save()
    yield MakeFront(described=described, work=ledger.counted.work if ledger.counted else None)


def _count(ledger: Ledger, counted: Result) -> None:
    """Keep the work, where it could be counted, and the data type that it tells."""
    ledger.counted = read(counted, Counted) if counted.value is not None else None
    dtype = ledger.counted.work.dtype if ledger.counted else None
    ledger.update(dtype=ledger.settings.dtype or dtype)


def _settle(ledger: Ledger, machine: Machine) -> None:
    """What the machine decides about the settings: kind, card, arch, whether counters count."""
    chosen = ledger.settings
    counters = chosen.mode == "counters" and machine.counters
    ledger.settings = msgspec.structs.replace(
        chosen,
        device_kind=machine.device,
        gpu=machine.gpu,
        gpu_uuid=machine.gpu_uuid,
        arch=machine.arch,
        chip=ledger.described.chip or chosen.chip,
        mode="counters" if counters else "counter-free",
        family=chosen.family
        if chosen.family != "other" or ledger.counted is None
        else ledger.counted.work.kernel,
    )
    epochs = list(ledger.state.epochs)
    epochs[-1] = msgspec.structs.replace(epochs[-1], settings=ledger.settings)
    ledger.update(settings=ledger.settings, epochs=tuple(epochs))


def environment(ledger: Ledger, date: str) -> Env:
    """env.json: the machine, what it lacks and what that costs."""
    machine = ledger.machine
    if machine is None:
        raise ValueError("the machine was not probed")
    findings = [
        EnvFinding(part="device", state="ok", detail=f"{machine.device}: {machine.gpu}",
                   required=True),
        EnvFinding(
            part="hardware counters",
            state="ok" if machine.counters else "missing",
            detail=machine.counters_why_not,
            costs="" if machine.counters else "counter-free: diagnosis from timing, work, opcodes",
        ),
    ]  # fmt: skip
    findings += [
        EnvFinding(part=name, state="ok", detail=version)
        for name, version in sorted(machine.tools.items())
    ]
    return Env(
        date=date, machine=machine, findings=tuple(findings), packages=dict(machine.versions)
    )
