"""The operations that templates compute, defined in torch: what a task is compared with.

Every definition takes its tensors by role and its options, and returns its outputs by role.
It is run on copies in the precision of the comparison, so it must not change its inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    import torch

Tensors = Mapping[str, "torch.Tensor"]
Compute = Callable[[Tensors, Mapping[str, Any]], dict[str, "torch.Tensor"]]


class Op(msgspec.Struct, frozen=True, kw_only=True):
    """One operation: shapes of its roles and the options by which it varies."""

    name: str
    inputs: dict[str, tuple[str, ...]]
    """Shape of every input role; see ``kbs_engine.templates.unify``."""
    outputs: dict[str, tuple[str, ...]]
    compute: Compute
    optional: frozenset[str] = frozenset()
    integer: frozenset[str] = frozenset()
    """Input roles that hold indices or counts."""
    options: dict[str, tuple[Any, ...]] = msgspec.field(default_factory=dict)


def _softmax(x: Tensors, options: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    function = x["x"].log_softmax if options["log"] else x["x"].softmax
    return {"out": function(-1)}


def _layernorm(x: Tensors, options: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    from torch.nn.functional import layer_norm

    row = x["x"]
    return {
        "out": layer_norm(
            row, (row.shape[-1],), x.get("weight"), x.get("bias"), float(options["eps"])
        )
    }


def _rmsnorm(x: Tensors, options: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    row = x["x"]
    scaled = row * (row.square().mean(-1, keepdim=True) + options["eps"]).rsqrt()
    return {"out": scaled * x["weight"] if "weight" in x else scaled}


def _batchnorm(x: Tensors, options: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    from torch.nn.functional import batch_norm

    return {
        "out": batch_norm(
            x["x"], None, None, x.get("weight"), x.get("bias"), training=True,
            eps=float(options["eps"]),
        )
    }  # fmt: skip


def _activate(value: torch.Tensor, name: str) -> torch.Tensor:
    from torch.nn import functional

    if name == "gelu_tanh":
        return functional.gelu(value, approximate="tanh")
    if name == "none":
        return value
    functions: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "relu": functional.relu, "gelu": functional.gelu, "silu": functional.silu
    }  # fmt: skip
    return functions[name](value)


def _matmul(x: Tensors, options: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    right = x["b"].transpose(-1, -2) if options["transpose_b"] else x["b"]
    product = x["a"] @ right
    if "bias" in x:
        product = product + x["bias"]
    return {"out": _activate(product, options.get("activation", "none"))}


def _attention(x: Tensors, options: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    q, k, v = x["q"], x["k"], x["v"]
    scale = q.shape[-1] ** -0.5 if options["scaled"] else 1.0
    scores = (q @ k.transpose(-1, -2)) * scale
    if options["causal"]:
        ones = scores.new_ones(scores.shape[-2:]).bool()
        scores = scores.masked_fill(~ones.tril(), float("-inf"))
    return {"out": scores.softmax(-1) @ v}


def _transpose(x: Tensors, options: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    del options
    return {"out": x["x"].transpose(-1, -2).contiguous()}


def _row_reduce(x: Tensors, options: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    kind, row = options["kind"], x["x"]
    if kind in {"max", "min"}:
        return {"out": row.amax(-1) if kind == "max" else row.amin(-1)}
    return {"out": row.sum(-1) if kind == "sum" else row.mean(-1)}


def _total(x: Tensors, options: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    kind, all_ = options["kind"], x["x"].reshape(-1)
    if kind in {"max", "min"}:
        return {"out": all_.amax() if kind == "max" else all_.amin()}
    return {"out": all_.sum() if kind == "sum" else all_.mean()}


def _scan(x: Tensors, options: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    del options
    return {"out": x["x"].cumsum(-1)}


def _histogram(x: Tensors, options: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    values, bins = x["x"].reshape(-1), int(options["bins"])
    return {"out": values.long().bincount(minlength=bins)[:bins]}


def _cross_entropy(x: Tensors, options: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    from torch.nn.functional import cross_entropy

    loss = cross_entropy(x["logits"], x["target"].long(), reduction="none")
    return {"out": loss.mean() if options["mean"] else loss}


_EPS: Final = (1e-5, 1e-6, 1e-8, 1e-12, 1e-3, 2.0**-23, 2.0**-10, 2.0**-7, 2.0**-52, 0.0)
"""Usual ones, and the distance from 1 to the next number in fp32, fp16, bf16 and fp64."""
_ACTIVATIONS: Final = ("none", "relu", "gelu", "gelu_tanh", "silu")
_KINDS: Final = ("sum", "mean", "max", "min")

OPS: Final[dict[str, Op]] = {
    op.name: op
    for op in (
        Op(
            name="softmax", inputs={"x": ("*M", "N")}, outputs={"out": ("*M", "N")},
            compute=_softmax, options={"log": (False, True)},
        ),
        Op(
            name="layernorm", inputs={"x": ("*M", "N"), "weight": ("N",), "bias": ("N",)},
            outputs={"out": ("*M", "N")}, optional=frozenset({"weight", "bias"}),
            compute=_layernorm, options={"eps": _EPS},
        ),
        Op(
            name="rmsnorm", inputs={"x": ("*M", "N"), "weight": ("N",)},
            outputs={"out": ("*M", "N")}, optional=frozenset({"weight"}),
            compute=_rmsnorm, options={"eps": _EPS},
        ),
        Op(
            name="batchnorm",
            inputs={"x": ("B", "C", "H", "W"), "weight": ("C",), "bias": ("C",)},
            outputs={"out": ("B", "C", "H", "W")}, optional=frozenset({"weight", "bias"}),
            compute=_batchnorm, options={"eps": _EPS[:-1]},
        ),
        Op(
            name="matmul", inputs={"a": ("M", "K"), "b": ("K", "N"), "bias": ("N",)},
            outputs={"out": ("M", "N")}, optional=frozenset({"bias"}), compute=_matmul,
            options={"transpose_b": (False,), "activation": _ACTIVATIONS},
        ),
        Op(
            name="matmul_nt", inputs={"a": ("M", "K"), "b": ("N", "K"), "bias": ("N",)},
            outputs={"out": ("M", "N")}, optional=frozenset({"bias"}), compute=_matmul,
            options={"transpose_b": (True,), "activation": _ACTIVATIONS},
        ),
        Op(
            name="batched_matmul", inputs={"a": ("*B", "M", "K"), "b": ("*B", "K", "N")},
            outputs={"out": ("*B", "M", "N")}, compute=_matmul,
            options={"transpose_b": (False,)},
        ),
        Op(
            name="attention",
            inputs={"q": ("*B", "M", "D"), "k": ("*B", "N", "D"), "v": ("*B", "N", "D")},
            outputs={"out": ("*B", "M", "D")}, compute=_attention,
            options={"causal": (False, True), "scaled": (True, False)},
        ),
        Op(
            name="transpose", inputs={"x": ("M", "N")}, outputs={"out": ("N", "M")},
            compute=_transpose,
        ),
        Op(
            name="row_reduction", inputs={"x": ("*M", "N")}, outputs={"out": ("*M",)},
            compute=_row_reduce, options={"kind": _KINDS},
        ),
        Op(
            name="reduction", inputs={"x": ("*N",)}, outputs={"out": ()},
            compute=_total, options={"kind": _KINDS},
        ),
        Op(
            name="scan", inputs={"x": ("*M", "N")}, outputs={"out": ("*M", "N")},
            compute=_scan,
        ),
        Op(
            name="histogram", inputs={"x": ("*N",)}, outputs={"out": ("BINS",)},
            integer=frozenset({"x"}), compute=_histogram, options={"bins": ("BINS",)},
        ),
        Op(
            name="cross_entropy", inputs={"logits": ("M", "V"), "target": ("M",)},
            outputs={"out": ()}, integer=frozenset({"target"}), compute=_cross_entropy,
            options={"mean": (True,)},
        ),
        Op(
            name="cross_entropy_rows", inputs={"logits": ("M", "V"), "target": ("M",)},
            outputs={"out": ("M",)}, integer=frozenset({"target"}), compute=_cross_entropy,
            options={"mean": (False,)},
        ),
    )
}  # fmt: skip
"""Every operation by name. An option value that names a dim takes that dim's size."""
