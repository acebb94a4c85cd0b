"""The end of a run: the benchmark against v0 and the libraries, then the reports."""

from __future__ import annotations

from kbs_engine.loop.actions import MakeReports
from kbs_engine.loop.asks import Commit, External, ExternalDone
from kbs_engine.loop.ledger import Ledger, Steps, put
from kbs_engine.loop.measuring import baseline_arms, run_jobs, time_job
from kbs_engine.loop.stopping import Stop
from kbs_engine.run.benches import build_bench
from kbs_engine.run.records import ExternalTiming


def finalize(ledger: Ledger, number: int, stop: Stop) -> Steps:
    """Benchmark the best version and write the reports; ``number`` is the last version."""
    ledger.update(ended=stop.reason, loop={"because": stop.detail})
    yield ledger.save()
    yield ledger.progress("finalize", number, f"{stop.reason}: {stop.detail}")
    best, zero = ledger.versions[ledger.best], ledger.versions[0]
    arms = [best.source]
    if best.source.sha256 != zero.source.sha256:
        arms.append(zero.source)
    job = time_job(
        ledger,
        [*arms, *baseline_arms(ledger)],
        pairs=ledger.settings.process_pairs,
        block=ledger.final_block(),
    )
    (result,) = yield from run_jobs(ledger, [job], "final benchmark", number)
    external = yield from _external(ledger)
    bench = build_bench(
        version=best.number,
        name="final",
        source_sha256=best.source.sha256,
        checks=[best.check] if best.check else [],
        blocks=[result],
        settings=ledger.settings.timing,
        noise=ledger.settings.noise,
        tunables=best.source.tunables,
        switches=best.source.switches,
        external=external,
    )
    yield put("benchmark.json", bench)
    yield ledger.save()
    yield MakeReports()
    yield Commit(version=number, message=f"reports after v{number}: {stop.reason}")
    ledger.finishing = False
    yield ledger.progress("summarize", number, "reports written", done=True)
    yield ledger.progress("finalize", number, stop.reason, done=True)


def _external(ledger: Ledger) -> Steps:
    """Figures of a team's own driver for the best version and v0; labelled, never deciding."""
    command = ledger.settings.external_benchmark
    rows: list[ExternalTiming] = []
    if not command:
        return ()
    for number in sorted({0, ledger.best}):
        done: ExternalDone = yield External(
            version=number,
            source=ledger.versions[number].source,
            command=command,
            task=ledger.task,
        )
        if done.value is not None:
            label = f"external: v{number}"
            rows.append(
                ExternalTiming(command=command, value=done.value, unit=done.unit, label=label)
            )
        else:
            yield ledger.progress("finalize", number, f"external benchmark: {done.failure}")
    return tuple(rows)
