"""The roofline's own numbers agree with each other and with the time that was measured."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.roofline import NEAR_PEAK_CITED, NEAR_PEAK_LIMITER
from kbs_engine.run.judged import RooflineFile

_CLOSE = 1e-6


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a model, a gap or a near peak that its roofs and its time do not give."""
    line = context.version.roofline
    if line is None:
        return
    for message in (*_model(line), *_near_peak(line), *_time(context, line)):
        yield context.refuse_measured("roofline_numbers", context.paths.roofline, message)


def _model(line: RooflineFile) -> Iterator[str]:
    if line.model_ns is not None and line.roofs:
        model = (line.fixed_ns or 0.0) + max(roof.time_ns for roof in line.roofs)
        if not math.isclose(line.model_ns, model, rel_tol=_CLOSE):
            yield f"model_ns is {line.model_ns:.6g}; its roofs give {model:.6g}"
    if line.gap is not None and line.model_ns is not None and line.time_ns:
        gap = max(0.0, 1 - line.model_ns / line.time_ns)
        if not math.isclose(line.gap, gap, rel_tol=_CLOSE, abs_tol=_CLOSE):
            yield f"gap is {line.gap:.6g}; model and time give {gap:.6g}"
    if line.limiter_share is not None and line.gap_latency is not None:
        idle = 1 - line.limiter_share
        if not math.isclose(line.gap_latency, idle, rel_tol=_CLOSE, abs_tol=_CLOSE):
            yield f"gap_latency is {line.gap_latency:.6g}; the limiter's share gives {idle:.6g}"


def _near_peak(line: RooflineFile) -> Iterator[str]:
    if not line.near_peak or not line.time_ns:
        return
    models = (line.model_ns, line.model_cited_ns, line.model_measured_ns)
    shares = [model / line.time_ns for model in models if model is not None]
    busy = line.limiter_share or 0.0
    if max(shares, default=0.0) < NEAR_PEAK_CITED and busy < NEAR_PEAK_LIMITER:
        yield "is called near peak, and neither its model nor its limiter comes near"


def _time(context: GateContext, line: RooflineFile) -> Iterator[str]:
    bench = context.version.bench
    own = bench.own() if bench else None
    if line.time_source != "timer" or own is None or line.time_ns is None:
        return
    if not math.isclose(line.time_ns, own.median_ns, rel_tol=_CLOSE):
        yield f"time_ns is {line.time_ns:.6g}; bench.json has {own.median_ns:.6g}"


RULE = Rule(
    id="roofline_numbers",
    title="Roofline",
    refuses="A model time, a gap, a near peak or a time that the roofs and bench.json do not give.",
    check=check,
    every=True,
)
