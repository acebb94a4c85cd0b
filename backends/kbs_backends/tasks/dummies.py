"""Kernels that compute nothing: a task that one of them passes cannot tell right from wrong."""

from __future__ import annotations

from typing import Any

from kbs_backends.tasks.base import PreparedRound, Reference, Tolerance
from kbs_backends.tasks.comparing import compare
from kbs_backends.tasks.domains import valid_only_as_drawn

_OTHER = "outliers"


def dummies(reference: Reference, seed: int, device: str) -> dict[str, dict[str, Any]]:
    """Outputs of every dummy on the inputs of ``seed``, by its name.

    They are zeros, ones, the mean, a copy of each input that fits, and the right answer to
    other inputs.
    """
    inputs = reference.make_inputs(seed, device=device)
    return _dummies(reference, inputs, seed, device)


def _dummies(
    reference: Reference, inputs: dict[str, Any], seed: int, device: str
) -> dict[str, dict[str, Any]]:
    import torch

    names = reference.output_names
    buffers = {name: inputs[name] for name in names}
    expected = reference.expected(inputs, None)
    made: dict[str, dict[str, Any]] = {
        "zeros": {n: torch.zeros_like(b) for n, b in buffers.items()},
        "ones": {n: torch.ones_like(b) for n, b in buffers.items()},
    }
    if any(b.numel() > 1 for b in buffers.values()):  # the mean of one value is that value
        made["mean"] = {
            n: _mean(expected[n], b) if b.numel() > 1 else torch.zeros_like(b)
            for n, b in buffers.items()
        }
    for name, value in inputs.items():
        if name in names or not isinstance(value, torch.Tensor):
            continue
        copies = {
            n: torch.empty_like(b).copy_(value.reshape(b.shape))
            for n, b in buffers.items()
            if value.numel() == b.numel() and value.numel() > 0
        }
        if copies:
            made[f"copy of {name}"] = {**made["zeros"], **copies}
    other = reference.make_inputs(seed + 1, _OTHER, device)
    with valid_only_as_drawn(_OTHER):
        answer = reference.expected(other, None)
    if any(not torch.equal(answer[n], expected[n]) for n in names):
        made["answer to other inputs"] = {
            n: torch.empty_like(b).copy_(answer[n]) for n, b in buffers.items()
        }
    return made


def degenerate(reference: Reference, tolerance: Tolerance, seed: int, device: str) -> str | None:
    """Name of the first dummy that passes the task, or None.

    A copy that equals the expectation bit for bit is what the task asks for (a copy kernel),
    and is no fault of it.
    """
    prepared = reference.prepare_round(seed, "setup", device, tolerance)
    exact = reference.expected(prepared.inputs, None)
    for name, outputs in _dummies(reference, prepared.inputs, seed, device).items():
        if _passes(outputs, prepared) and not (name.startswith("copy") and _same(outputs, exact)):
            return name
    return None


def infinities(reference: Reference, seed: int, device: str) -> str:
    """In how many elements the reference gives infinities; empty where in none."""
    found = reference.expected(reference.make_inputs(seed, device=device), None)
    told = [
        f"{count} of {value.numel()} elements of {name}"
        for name, value in found.items()
        if (count := int(value.isinf().sum()))
    ]
    return f"the reference gives infinities in {', '.join(told)}" if told else ""


def _passes(outputs: dict[str, Any], prepared: PreparedRound) -> bool:
    return compare(outputs, prepared.expected, prepared.specs, prepared.tolerance).ok


def _same(outputs: dict[str, Any], exact: dict[str, Any]) -> bool:
    import torch

    return all(torch.equal(outputs[name], exact[name]) for name in exact)


def _mean(expected: Any, buffer: Any) -> Any:
    import torch

    if expected.is_complex():
        expected = expected.real  # a constant is a constant
    wide = expected.to(torch.float64)
    finite = wide[torch.isfinite(wide)]
    value = float(finite.mean()) if finite.numel() else 0.0
    filled = torch.full_like(buffer, 0)
    return filled.fill_(round(value) if _whole(buffer) else value)


def _whole(buffer: Any) -> bool:
    return not (buffer.is_floating_point() or buffer.is_complex())
