"""Which kernel family a reference is: declared, else seen from the operations that it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kbs_backends.tasks.computation import run_user
from kbs_backends.tasks.untraced import is_tracing
from kbs_engine.errors import InputError
from kbs_engine.vocabulary import FAMILIES, Family

_RULES: tuple[tuple[Family, tuple[frozenset[str], ...]], ...] = (
    ("attention", (frozenset({"scaled_dot_product"}),)),
    ("attention", (frozenset({"mm", "bmm", "baddbmm"}), frozenset({"softmax"}))),
    ("convolution", (frozenset({"convolution"}),)),
    ("batched_gemm", (frozenset({"bmm", "baddbmm"}),)),
    ("gemv", (frozenset({"mv", "addmv"}),)),
    ("gemm", (frozenset({"mm", "addmm"}),)),
    ("fft", (frozenset({"fft"}),)),
    ("sort", (frozenset({"sort", "topk"}),)),
    ("scan", (frozenset({"cumsum", "cumprod", "logcumsumexp", "cummax"}),)),
    ("embedding", (frozenset({"embedding"}),)),
    ("histogram", (frozenset({"bincount", "histc"}),)),
    ("loss", (frozenset({"nll_loss", "mse_loss", "binary_cross_entropy", "kl_div"}),)),
    ("softmax", (frozenset({"softmax"}),)),
    ("normalization", (frozenset({"layer_norm", "batch_norm", "group_norm", "rms_norm"}),)),
    ("normalization", (frozenset({"rsqrt", "sqrt"}), frozenset({"mean", "var", "var_mean"}))),
    ("gather_scatter", (frozenset({"gather", "scatter", "index", "index_select", "index_add"}),)),
    ("reduction", (frozenset({"sum", "mean", "amax", "max", "amin", "min", "prod", "argmax",
                              "norm", "var", "logsumexp"}),)),
)  # fmt: skip
"""Family by operation names, in order of precedence; every set of a rule must be met."""
_ELEMENTWISE = frozenset({
    "add", "sub", "mul", "div", "relu", "gelu", "silu", "sigmoid", "tanh", "exp", "log", "pow",
    "clamp", "where", "maximum", "minimum", "neg", "abs", "copy", "to_copy", "rsqrt", "sqrt",
})  # fmt: skip
_VIEWS = frozenset({"view", "t", "transpose", "permute", "expand", "unsqueeze", "squeeze", "clone",
                    "detach", "empty", "empty_like", "unsafe_view", "slice", "select", "alias",
                    "reshape", "copy", "to_copy"})  # fmt: skip
_TRANSPOSES = frozenset({"t", "transpose", "permute"})


def declared_family(value: Any, where: str) -> Family | None:
    """``family`` of ref.py, checked against the vocabulary.

    Raises:
        InputError: A word that is no family.
    """
    if value is None:
        return None
    if value not in FAMILIES:
        raise InputError(
            f"family {value!r} is none of ours", where=where,
            remedy=f"give one of {', '.join(FAMILIES)}",
        )  # fmt: skip
    return value  # type: ignore[no-any-return]


def seen_family(operations: frozenset[str]) -> Family:
    """By the names of the operations that were done; ``other`` where none tells."""
    bases = {_base(name) for name in operations}
    for family, wanted in _RULES:
        if all(any(_met(bases, name) for name in group) for group in wanted):
            return family
    if bases & _TRANSPOSES and bases <= _VIEWS:
        return "transpose"
    if bases & _ELEMENTWISE and bases <= _ELEMENTWISE | _VIEWS:
        return "elementwise"
    return "other"


def operations_of(
    where: Path, function: Callable[..., Any], inputs: Mapping[str, Any]
) -> frozenset[str]:
    """Names of the ATen operations that one call does."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    seen: set[str] = set()

    class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return is_tracing()

        def __torch_dispatch__(
            self, func: Any, kinds: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            del kinds
            seen.add(str(func.overloadpacket).removeprefix("aten."))
            return func(*args, **(kwargs or {}))

    with torch.no_grad(), Watch():  # type: ignore[no-untyped-call]
        run_user(where, function, inputs)
    return frozenset(seen)


def _base(name: str) -> str:
    return name.strip("_").removeprefix("native_")


def _met(bases: set[str], wanted: str) -> bool:
    """The operation itself, or a variant that carries its name (``_fused_rms_norm``)."""
    long = "_" in wanted or wanted in ("softmax", "convolution", "fft", "embedding")
    return wanted in bases or (long and any(wanted in base for base in bases))
