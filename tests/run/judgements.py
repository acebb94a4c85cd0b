"""Roofline, opcodes, ablations and requests of the imagined run."""

from __future__ import annotations

from kbs_engine.ablation import attribute
from kbs_engine.plans import Plan, PlannedMethod, Skipped
from kbs_engine.profiles import Profile
from kbs_engine.recommendations import Recommendation
from kbs_engine.reports import ncu_details, ncu_summary, ncu_top
from kbs_engine.roofs import Roofline
from kbs_engine.run.benches import build_bench, compare_arms
from kbs_engine.run.files import sha256_of
from kbs_engine.run.records import (
    AblatedVariant,
    AttributionFile,
    Bench,
    Budget,
    Contract,
    MethodAttribution,
    MethodOpcodes,
    MethodsFile,
    Ranked,
    RequestFile,
    SassCheck,
    VersionMethod,
    roofline_file,
)
from kbs_engine.signatures import SignatureVerdict
from tests.run import texts

METHOD = "vectorized_access"
BUDGET = Budget(slots=3, axis_slots={"memory": 2, "latency": 1}, axis_recoverable={"memory": 0.4})


def budget(builder) -> Budget:
    if builder.settings.slots == 1:
        return Budget(slots=1, axis_slots={"memory": 1})
    return BUDGET


def diagnose(builder, number: int) -> None:
    """Profile, summaries and roofline of a version."""
    run, paths = builder.run, builder.paths(number)
    sha = sha256_of(builder.sources[number])
    result = builder.profile(number)
    metrics = {"duration_ns": 98_000.0, "dram_pct": 41.0, "stall_long_scoreboard": 4.0}
    profiles = [Profile(name="scale_kernel", launch=0, metrics=metrics)] if result else []
    run.write_text(paths.ncu_summary, ncu_summary(number, profiles))
    run.write_text(paths.ncu_details, ncu_details(number, profiles))
    top = ncu_top(number, sha, profiles)
    run.write(paths.ncu_top, _with(top, profile=result))
    own = run.read(paths.bench, Bench).own()
    line = Roofline(
        time_ns=own.median_ns, time_source="timer", limiter="latency", limiter_share=0.41,
        gap_latency=0.59,
    )  # fmt: skip
    run.write(
        paths.roofline,
        roofline_file(line, version=number, source_sha256=sha, budget=budget(builder)),
    )


def _with(record, **fields):
    import msgspec

    return msgspec.structs.replace(record, **fields)


def verify(builder, number: int, methods=None) -> None:
    """methods.json, opcodes and ablations of a version."""
    run, paths = builder.run, builder.paths(number)
    sha = sha256_of(builder.sources[number])
    names = methods or (METHOD,)
    run.write(paths.methods, methods_file(builder, number, names))
    rows = tuple(_opcodes(name) for name in names)
    run.write(
        paths.sass_check,
        SassCheck(version=number, source_sha256=sha, arch="sm_90a", methods=rows),
    )
    _ablate(builder, number, names)


def methods_file(builder, number: int, names) -> MethodsFile:
    """What the version holds."""
    return MethodsFile(
        version=number,
        base_version=0,
        slots=builder.settings.slots,
        axis_slots=budget(builder).axis_slots,
        methods=tuple(
            VersionMethod(method=name, axis="memory", rank=i + 1, trigger_strength=0.3)
            for i, name in enumerate(names)
        ),
        ranking=tuple(
            Ranked(method=name, axis="memory", score=0.5 - 0.1 * i) for i, name in enumerate(names)
        ),
    )


def _opcodes(name: str) -> MethodOpcodes:
    function = SignatureVerdict(
        method=name, arch="sm_90a", function="scale_kernel", outcome="confirmed", reason="LDG.E.128"
    )
    return MethodOpcodes(
        method=name, outcome="confirmed", reason="LDG.E.128: 4", functions=(function,)
    )


def _ablate(builder, number: int, names) -> None:
    run, paths = builder.run, builder.paths(number)
    champion = builder.sources[number]
    text = texts.kernel(vector=False, block=256)
    part = paths.ablation(f"no_{METHOD}")
    run.write_text(part.kernel(".py"), text)
    block = builder.time(builder.ref(champion), builder.ref(text), pairs=1)
    bench = build_bench(
        version=number,
        name=f"no_{METHOD}",
        source_sha256=sha256_of(text),
        checks=(builder.check(text),),
        blocks=(block,),
        settings=builder.settings.timing,
        noise=builder.settings.noise,
    )
    run.write(part.bench, bench)
    found = compare_arms(bench.timed(), 0, 1, builder.settings.noise)
    switches = ({METHOD: True}, {METHOD: False})
    effect = attribute(bench.timed(), switches, noise=builder.settings.noise).of(METHOD)
    variant = AblatedVariant(
        name=f"no_{METHOD}", off=(METHOD,), sha256=sha256_of(text), correct=True,
        ratio=found.ratio, low=found.low, high=found.high,
    )  # fmt: skip
    run.write(
        paths.attribution,
        AttributionFile(
            version=number,
            source_sha256=sha256_of(champion),
            mode="loo",
            noise=builder.settings.noise,
            variants=(variant,),
            methods=tuple(_attributed(effect, name) for name in names),
            total=effect.gain,
            total_low=effect.gain_interval[0],
            total_high=effect.gain_interval[1],
        ),
    )


def _attributed(effect, name: str) -> MethodAttribution:
    low, high = effect.gain_interval
    return MethodAttribution(
        method=name,
        attribution="helps",
        gain=effect.gain,
        low=low,
        high=high,
        p_holm=effect.p_holm,
        opcodes="confirmed",
        verdict="effective",
    )


def request(builder, number: int) -> RequestFile:
    """What the writer of the next version is given."""
    planned = PlannedMethod(
        method=METHOD if number == 0 or builder.settings.slots == 1 else "persistent_kernel",
        axis="memory" if number == 0 or builder.settings.slots == 1 else "latency",
        evidence="narrow loads",
        change="wide loads",
        expected={"load_sectors_per_request": "down"},
        risk="tails",
        decision_rule="faster by 2 %",
    )
    ranked = tuple(
        Recommendation(
            method=name, title=name, axis=axis, score=score, gain=0.3, chance=0.5, fit=1.0,
            fit_parts={}, predicted_gain=(0.1, 0.3), addresses=(), status="cited", citations=(),
        )
        for name, axis, score in (
            ("shared_tiling", "memory", 0.3),
            (planned.method, planned.axis, 0.2),
        )
    )  # fmt: skip
    shares = budget(builder)
    return RequestFile(
        run_id="r1",
        version=number,
        next_version=number + 1,
        base_version=number,
        base_file=f"v{number}/kernel.py",
        base_sha256=sha256_of(builder.sources[number]),
        budget=shares,
        ranked=ranked,
        plan=Plan(
            methods=(planned,),
            slots=shares.slots,
            axis_slots=dict(shares.axis_slots),
            skipped=(Skipped(method="shared_tiling", reason="nothing is reused"),),
        ),
        contract=Contract(
            language="triton", entry="run_kernel(**kwargs)", rules=(), dims={"n": 4096}
        ),
    )
