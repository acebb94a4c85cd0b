"""What a reference returned or wrote, by output name; and which arguments are outputs at all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kbs_backends.tasks.base import Inputs, OutputSpec
from kbs_backends.tasks.computation import run_user
from kbs_engine.errors import InputError


def collect(
    returned: Any, inputs: Mapping[str, Any], outputs: Sequence[str], where: Path
) -> dict[str, Any]:
    """Outputs by name: what was returned, else what stands in the buffers.

    Raises:
        InputError: Another number of values, or another shape than the buffer's.
    """
    import torch

    given: dict[str, Any]
    if returned is None:
        given = {}
    elif isinstance(returned, Mapping):
        given = dict(returned)
        unknown = [name for name in given if name not in outputs]
        if unknown:
            raise _wrong(where, f"returns {unknown[0]!r}, which is no output",
                         f"return the outputs {', '.join(outputs)}")  # fmt: skip
    else:
        values = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        if len(values) != len(outputs):
            raise _wrong(where, f"returns {len(values)} values for {len(outputs)} outputs",
                         f"return exactly {', '.join(outputs)}, or write in place")  # fmt: skip
        given = dict(zip(outputs, values, strict=True))
    found = {}
    for name in outputs:
        value = given.get(name)
        value = inputs[name] if value is None else value
        if not isinstance(value, torch.Tensor):
            raise _wrong(where, f"gives a {type(value).__name__} for output {name}",
                         "return tensors")  # fmt: skip
        _same_shape(name, value, inputs[name], where)
        found[name] = value
    return found


def same_dtypes(found: Mapping[str, Any], inputs: Mapping[str, Any], where: Path) -> None:
    """InputError where the reference in its own dtype gives another one than the buffer's."""
    for name, value in found.items():
        if value.dtype != inputs[name].dtype:
            raise _wrong(
                where,
                f"output {name}: the reference gives {_word(value)}, "
                f"the buffer of setup() is {_word(inputs[name])} (dtype mismatch)",
                "convert the result with .to(...), or make setup() allocate that dtype",
            )


def not_empty(specs: Mapping[str, OutputSpec], where: Path) -> None:
    """InputError when there is no element that could be compared."""
    if not any(math.prod(spec.shape) for spec in specs.values()):
        raise _wrong(where, "outputs are empty: there is nothing to compare",
                     "use dims above zero")  # fmt: skip


def no_nan(found: Mapping[str, Any], where: Path, distribution: str) -> None:
    """InputError when an expected value is NaN: nothing could be compared with it."""
    for name, value in found.items():
        inexact = value.is_floating_point() or value.is_complex()
        if inexact and bool(value.isnan().any()):
            count = int(value.isnan().sum())
            raise _wrong(
                where,
                f"the reference gives NaN in {count} of {value.numel()} elements of {name} "
                f"on {distribution} inputs",
                "make it finite there, or draw inputs in setup() on which it is",
            )


def spec_of(tensor: Any) -> OutputSpec:
    """What an output must be, from its buffer."""
    return OutputSpec(
        shape=tuple(tensor.shape),
        stride=tuple(tensor.stride()),
        dtype=_word(tensor),
        device=tensor.device.type,
    )


def seen_outputs(
    function: Callable[..., Any], inputs: Inputs, where: Path
) -> tuple[tuple[str, ...], Any]:
    """Arguments that the reference writes, or returns under their name; and all that it returns."""
    import torch

    tensors = {n: v for n, v in inputs.items() if isinstance(v, torch.Tensor)}
    before = {name: value._version for name, value in tensors.items()}  # noqa: SLF001
    with torch.no_grad():
        returned = run_user(where, function, inputs)
    written = [n for n, v in tensors.items() if v._version != before[n]]  # noqa: SLF001
    named = [n for n in returned if n in tensors] if isinstance(returned, Mapping) else []
    return tuple(dict.fromkeys((*written, *named))), returned


def _same_shape(name: str, value: Any, buffer: Any, where: Path) -> None:
    if tuple(value.shape) != tuple(buffer.shape):
        raise _wrong(
            where,
            f"output {name}: the reference gives shape {tuple(value.shape)}, "
            f"the buffer of setup() has {tuple(buffer.shape)} (shape mismatch)",
            "make setup() allocate what the reference gives; a reference writes its outputs or "
            "returns them all, in order",
        )


def _word(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _wrong(where: Path, message: str, remedy: str) -> InputError:
    return InputError(message, where=str(where), remedy=remedy)
