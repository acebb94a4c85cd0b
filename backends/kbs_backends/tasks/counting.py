"""The work of a reference: FLOPs and compulsory bytes, declared, else counted, else unknown."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kbs_backends.languages.python_kernel import Dims
from kbs_backends.languages.user_code import failures_by_line
from kbs_backends.tasks.computation import Computation, run_user
from kbs_backends.tasks.tolerance import SHORT
from kbs_backends.tasks.untraced import spare
from kbs_engine.errors import InputError
from kbs_engine.results import Counted
from kbs_engine.vocabulary import Dtype, Family
from kbs_engine.work import Work

_UNCOUNTED = "torch's counter knows matrix products, convolutions and attention alone"


def counted_work(
    computation: Computation,
    dims: Dims,
    inputs: Mapping[str, Any],
    outputs: Sequence[str],
    *,
    family: Family,
    flops: float | None,
    permitted: Sequence[Dtype] = (),
) -> Counted:
    """All of it, with where each part is from. ``flops`` is what torch counted."""
    notes: list[str] = []
    by_dtype: dict[str, float] = {}
    dtype = main_dtype(inputs, outputs)
    declared = _declared_flops(computation, dims)
    total: float | None
    if declared is not None:
        by_dtype = declared if set(declared) != {""} else {}
        total, flops_from = sum(declared.values()), "declared"
    elif flops:
        total, flops_from = flops, "counted"
        by_dtype = {dtype: flops} if dtype else {}
    else:
        total, flops_from = None, "unknown"
        notes.append(f"FLOPs are not known: {_UNCOUNTED}; declare flops(**dims)")
    moved = _declared_bytes(computation, dims)
    bytes_from = "declared"
    if moved is None:
        moved, bytes_from = _tensor_bytes(inputs, outputs), "counted"
        notes.append("bytes are those of the arguments: each input read once, each output "
                     "written once")  # fmt: skip
    return Counted(
        work=Work(
            kernel=family, dtype=dtype, permitted=_precisions(dtype, permitted),
            flops=total, bytes_in=moved[0], bytes_out=moved[1],
        ),
        flops_from=flops_from,  # type: ignore[arg-type]
        bytes_from=bytes_from,  # type: ignore[arg-type]
        flops_by_dtype=by_dtype,
        notes=tuple(notes),
    )  # fmt: skip


def torch_flops(
    where: Path, function: Callable[..., Any], inputs: Mapping[str, Any]
) -> float | None:
    """FLOPs by torch's counter, multiply-adds as two; None where it knows no operation."""
    import torch
    from torch.utils import flop_counter

    spare(getattr(flop_counter, "_FlopCounterMode", None))
    with torch.no_grad(), flop_counter.FlopCounterMode(display=False) as counter:
        run_user(where, function, inputs)
    return float(counter.get_total_flops()) or None


def main_dtype(inputs: Mapping[str, Any], outputs: Sequence[str]) -> Dtype | None:
    """Our word for the dtype of the largest input; of the outputs where there is none."""
    tensors = {n: v for n, v in inputs.items() if hasattr(v, "numel")}
    pool = [v for n, v in tensors.items() if n not in outputs] or list(tensors.values())
    if not pool:
        return None
    largest = max(pool, key=lambda value: value.numel() * value.element_size())
    return SHORT.get(str(largest.dtype).removeprefix("torch."))  # type: ignore[return-value]


def _declared_flops(computation: Computation, dims: Dims) -> dict[str, float] | None:
    """``flops(**dims)`` or a number; a mapping gives them by precision."""
    value = _called(computation, "flops", dims)
    if value is None:
        return None
    rows = value if isinstance(value, Mapping) else {"": value}
    return {str(name): _amount(computation, "flops", number) for name, number in rows.items()}


def _declared_bytes(computation: Computation, dims: Dims) -> tuple[float, float] | None:
    """``bytes(**dims)``: ``{"in": …, "out": …}`` or a pair."""
    value = _called(computation, "bytes", dims)
    if value is None:
        return None
    pair = (value.get("in"), value.get("out")) if isinstance(value, Mapping) else value
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:  # noqa: PLR2004 - in and out
        raise InputError(
            "bytes gives neither a pair nor in and out", where=str(computation.where),
            remedy='return {"in": bytes read, "out": bytes written}',
        )  # fmt: skip
    read, written = (_amount(computation, "bytes", number) for number in pair)
    return read, written


def _called(computation: Computation, name: str, dims: Dims) -> Any:
    value = computation.declared(name)
    if not callable(value):
        return value
    with failures_by_line(computation.where, f"{name} fails"):
        return value(**dims)


def _amount(computation: Computation, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise InputError(
            f"{name} gives no number of at least zero", where=str(computation.where),
            remedy=f"return a number from {name}(**dims)",
        )  # fmt: skip
    return float(value)


def _tensor_bytes(inputs: Mapping[str, Any], outputs: Sequence[str]) -> tuple[float, float]:
    sizes = {n: v.numel() * v.element_size() for n, v in inputs.items() if hasattr(v, "numel")}
    written = sum(size for name, size in sizes.items() if name in outputs)
    return float(sum(sizes.values()) - written), float(written)


def _precisions(dtype: Dtype | None, permitted: Sequence[Dtype]) -> tuple[Dtype, ...]:
    """The task's own precision and those permitted beside it; empty where none is."""
    if not permitted:
        return ()
    return tuple(dict.fromkeys((*([dtype] if dtype else []), *permitted)))
