"""Comparison of every element, and of everything else that an output is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kbs_backends.tasks.base import Difference, OutputSpec, Tolerance

_CHUNK = 1 << 25
"""Elements compared at a time, so that fp64 copies stay small."""


def compare(
    actual: Mapping[str, Any],
    expected: Mapping[str, Any],
    specs: Mapping[str, OutputSpec],
    tolerance: Tolerance,
) -> Difference:
    """Compare all outputs. No element may miss the tolerance: there is no matched ratio.

    Type, dtype, shape, stride and device must be those of the buffer to the letter; infinities
    must stand where they are expected, with their sign; a NaN fails. A derived tolerance is in
    units of each output's root mean square.
    """
    compared = 0
    worst: tuple[float, float | None, str] | None = None
    failed: Difference | None = None
    for name, spec in specs.items():
        fault = _metadata_fault(actual.get(name), spec)
        if fault is not None:
            return Difference(
                ok=False, compared_elements=compared, output=name,
                fault=fault[0], detail=fault[1],
            )  # fmt: skip
        found = _values(name, actual[name], expected[name], tolerance.of(name))
        compared += found.compared_elements
        if found.fault and failed is None:
            failed = found
        error = found.max_abs_err
        if error is not None and (worst is None or error > worst[0]):
            worst = (error, found.max_rel_err, name)
    if compared == 0 and failed is None:
        failed = Difference(
            ok=False, compared_elements=0, fault="nothing_compared", detail="outputs are empty"
        )
    return Difference(
        ok=failed is None,
        compared_elements=compared,
        max_abs_err=worst[0] if worst else None,
        max_rel_err=worst[1] if worst else None,
        output=failed.output if failed else (worst[2] if worst else ""),
        fault=failed.fault if failed else "",
        detail=failed.detail if failed else "",
    )


def holds(
    actual: Mapping[str, Any],
    expected: Mapping[str, Any],
    specs: Mapping[str, OutputSpec],
    tolerance: Tolerance,
) -> bool:
    """Whether every element is within the tolerance, in a third of the passes of ``compare``.

    False is no verdict: infinities that are expected, and all faults, are for ``compare``.
    """
    compared = 0
    for name, spec in specs.items():
        if _metadata_fault(actual.get(name), spec) is not None:
            return False
        got, wanted = _real(actual[name]).reshape(-1), _real(expected[name]).reshape(-1)
        compared += got.numel()
        own = tolerance.of(name)
        atol = _absolute(own, wanted)
        for start in range(0, got.numel(), _CHUNK):
            part = slice(start, start + _CHUNK)
            if not _within(got[part], wanted[part], atol, own.rtol):
                return False
    return compared > 0


def _within(got: Any, wanted: Any, atol: float, rtol: float) -> bool:
    import torch

    if not wanted.is_floating_point():
        return bool((got == wanted).all())
    wanted = wanted.to(torch.float64)
    errors = (got.to(torch.float64) - wanted).abs_()
    # Room that is NaN is none: where an infinity is expected, both its terms are infinite.
    room = wanted.abs().mul_(rtol).add_(atol).sub_(errors)
    return bool((room >= 0).all())


def _absolute(tolerance: Tolerance, expected: Any) -> float:
    """``atol`` of one output: a derived one is in units of its root mean square."""
    return tolerance.atol * root_mean_square(expected) if tolerance.derived else tolerance.atol


def _metadata_fault(value: Any, spec: OutputSpec) -> tuple[str, str] | None:
    """The first thing that is not as it must be: its code and words."""
    import torch

    if value is None:
        return "missing", "no value for this output"
    if type(value) is not torch.Tensor or value.layout is not torch.strided:
        return "type", f"a {type(value).__name__}, not a plain tensor"
    seen = (
        ("dtype", str(value.dtype).removeprefix("torch."), spec.dtype),
        ("shape", tuple(value.shape), spec.shape),
        ("device", value.device.type, spec.device),
        ("stride", tuple(value.stride()), spec.stride),
    )
    for what, got, wanted in seen:
        if got != wanted:
            return what, f"{what} is {got}, must be {wanted}"
    return None


def _values(name: str, actual: Any, expected: Any, tolerance: Tolerance) -> Difference:
    """Compare one output; whole numbers and booleans exactly, complex ones part by part."""
    actual, expected = _real(actual), _real(expected)
    atol = _absolute(tolerance, expected)
    flat, wanted = actual.reshape(-1), expected.reshape(-1)
    largest, relative, wrong, odd = 0.0, 0.0, 0, 0
    for start in range(0, flat.numel(), _CHUNK):
        part = slice(start, start + _CHUNK)
        chunk = _chunk(flat[part], wanted[part], atol, tolerance.rtol)
        largest, relative = max(largest, chunk[0]), max(relative, chunk[1])
        wrong, odd = wrong + chunk[2], odd + chunk[3]
    fault, detail = "", ""
    if odd:
        fault = "not_finite"
        detail = f"{odd} of {flat.numel()} elements are NaN or infinite where they must not be"
    elif wrong:
        fault = "values"
        detail = (
            f"{wrong} of {flat.numel()} elements miss |error| <= {atol:.3g} + "
            f"{tolerance.rtol:.3g} * |expected|; the largest error is {largest:.3g}"
        )
    return Difference(
        ok=not fault,
        compared_elements=flat.numel(),
        max_abs_err=largest,
        max_rel_err=relative,
        output=name,
        fault=fault,
        detail=detail,
    )


def _real(values: Any) -> Any:
    """Complex values as pairs of real ones."""
    import torch

    return torch.view_as_real(values.resolve_conj()) if values.is_complex() else values


def _chunk(actual: Any, expected: Any, atol: float, rtol: float) -> tuple[float, float, int, int]:
    """Largest absolute and relative error, elements that miss, elements not finite."""
    import torch

    if not expected.is_floating_point():
        wrong = actual != expected
        errors = (actual.to(torch.float64) - expected.to(torch.float64)).abs()
        errors = torch.where(wrong, errors.clamp(min=1.0), 0.0)  # fp64 rounds large ones alike
        largest, missed = _numbers(errors.max(), wrong.sum())
        return largest, 0.0, int(missed), 0
    got, wanted = actual.to(torch.float64), expected.to(torch.float64)
    finite = torch.isfinite(wanted)
    # A value that overflows the output's dtype is infinite in any honest kernel too.
    limit = torch.finfo(actual.dtype).max
    overflows = finite & (wanted.abs() > limit)
    matches = (got == wanted) | (overflows & torch.isinf(got) & (got.sign() == wanted.sign()))
    odd = (~torch.isfinite(got) | ~finite) & ~matches
    judged = finite & torch.isfinite(got)
    errors = torch.where(judged, (got - wanted).abs(), 0.0)
    wrong = errors > atol + rtol * wanted.abs()
    wrong &= judged
    scale = torch.where(judged & (wanted != 0), wanted.abs(), torch.inf)
    found = _numbers(errors.max(), (errors / scale).max(), wrong.sum(), odd.sum())
    return found[0], found[1], int(found[2]), int(found[3])


def _numbers(*values: Any) -> list[float]:
    """Values of one element each, fetched from a device together: each fetch waits for it."""
    import torch

    return torch.stack([value.to(torch.float64) for value in values]).tolist()


def root_mean_square(expected: Any) -> float:
    """Of the finite elements; zero when there are none."""
    import torch

    if not expected.is_floating_point() or expected.numel() == 0:
        return 0.0
    flat = expected.reshape(-1)
    total, count = 0.0, 0
    for start in range(0, flat.numel(), _CHUNK):
        part = flat[start : start + _CHUNK].to(torch.float64)
        finite = torch.isfinite(part)
        square, some = _numbers(torch.where(finite, part, 0.0).square().sum(), finite.sum())
        total, count = total + square, count + int(some)
    return float((total / count) ** 0.5) if count else 0.0
