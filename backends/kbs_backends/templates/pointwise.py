"""A Triton kernel for a reference that is elementwise throughout, from its traced graph.

The reference is traced into torch's basic operations (``make_fx``). When each of them works
element by element, on tensors of one shape, on rows that repeat (the last dim) and on numbers,
the whole expression becomes one kernel: each input is read once, each output written once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kbs_backends.tasks.base import Inputs, Reference
from kbs_backends.templates.trace import read_tensors, trace

if TYPE_CHECKING:
    import torch

_BINARY: Final = {
    "add": "({0} + {1})", "sub": "({0} - {1})", "mul": "({0} * {1})", "div": "({0} / {1})",
    "maximum": "tl.maximum({0}, {1})", "minimum": "tl.minimum({0}, {1})",
    "gt": "({0} > {1})", "ge": "({0} >= {1})", "lt": "({0} < {1})", "le": "({0} <= {1})",
    "eq": "({0} == {1})", "ne": "({0} != {1})", "bitwise_and": "({0} & {1})",
    "bitwise_or": "({0} | {1})", "logical_and": "({0} & {1})", "logical_or": "({0} | {1})",
    "rsub": "({1} - {0})",
}  # fmt: skip
_UNARY: Final = {
    "relu": "tl.maximum({0}, 0.0)", "exp": "tl.exp({0})", "exp2": "tl.exp2({0})",
    "log": "tl.log({0})", "log2": "tl.log2({0})", "sqrt": "tl.sqrt({0})",
    "rsqrt": "tl.rsqrt({0})", "sin": "tl.sin({0})", "cos": "tl.cos({0})",
    "sigmoid": "tl.sigmoid({0})", "abs": "tl.abs({0})", "neg": "(-{0})",
    "reciprocal": "(1.0 / {0})", "square": "({0} * {0})", "erf": "tl.erf({0})",
    "tanh": "(2.0 * tl.sigmoid(2.0 * {0}) - 1.0)", "silu": "({0} * tl.sigmoid({0}))",
    "floor": "tl.floor({0})", "ceil": "tl.ceil({0})", "logical_not": "(~{0})",
    "bitwise_not": "(~{0})",
}  # fmt: skip
_SAME: Final = frozenset({
    "clone", "copy", "detach", "alias", "contiguous", "_to_copy", "to", "view", "reshape",
    "unsqueeze", "expand", "_unsafe_view", "lift_fresh_copy",
})  # fmt: skip
"""Operations that keep the elements, where they keep the shape too (or broadcast a row)."""

_CODE: Final = '''"""Elementwise kernel written out from the traced reference."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

BLOCK = 1024  # kbs:tunable 512, 1024, 2048, 4096
NUM_WARPS = 4  # kbs:tunable 4, 8


@triton.jit
def elementwise({pointers}, COUNT, COLUMNS, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < COUNT
{body}


def launch({pointers}):
    elementwise[(triton.cdiv({first}.numel(), BLOCK),)](
        {pointers}, {first}.numel(), {columns}, BLOCK=BLOCK, num_warps=NUM_WARPS,
    )


# kbs:adapter
# kbs:end
'''


class NotPointwise(msgspec.Struct, frozen=True, kw_only=True):
    """Why a reference is not elementwise throughout."""

    why: str


class Pointwise(msgspec.Struct, frozen=True, kw_only=True):
    """The source of the kernel, and its tensors in the order of ``launch``."""

    text: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def pointwise_kernel(reference: Reference, inputs: Inputs) -> Pointwise | NotPointwise:
    """The kernel for ``reference`` on arguments like ``inputs``, or why there is none."""
    import torch

    tensors = {name: value for name, value in inputs.items() if isinstance(value, torch.Tensor)}
    read = read_tensors(reference, inputs)
    graph = trace(reference, inputs, read)
    shapes = {tuple(tensors[name].shape) for name in reference.output_names if name in tensors}
    if len(shapes) != 1 or not read:
        return NotPointwise(why="the outputs have several shapes, or nothing is read")
    return _Writer(shapes.pop(), read, reference.output_names).write(graph, tensors)


class _Writer:
    """Turns a graph into the body of the kernel, one line for each operation."""

    def __init__(self, shape: tuple[int, ...], read: Sequence[str], outputs: Sequence[str]) -> None:
        self.shape, self.read, self.outputs = shape, list(read), list(outputs)
        self.lines: list[str] = []
        self.names: dict[Any, str] = {}

    def write(
        self, graph: torch.fx.GraphModule, tensors: Mapping[str, torch.Tensor]
    ) -> Pointwise | NotPointwise:
        try:
            self._body(graph, tensors)
        except _Unsuitable as problem:
            return NotPointwise(why=str(problem))
        pointers = ", ".join([*self.read, *(f"{name}_to" for name in self.outputs)])
        first = f"{self.outputs[0]}_to"
        text = _CODE.format(
            pointers=pointers,
            body="\n".join(f"    {line}" for line in self.lines),
            first=first,
            columns=self.shape[-1] if self.shape else 1,
        )
        return Pointwise(text=text, inputs=tuple(self.read), outputs=tuple(self.outputs))

    def _body(self, graph: torch.fx.GraphModule, tensors: Mapping[str, torch.Tensor]) -> None:
        placeholders = iter(self.read)
        for node in graph.graph.nodes:
            if node.op == "placeholder":
                self.names[node] = self._load(next(placeholders), tensors)
            elif node.op == "call_function":
                self._operation(node)
            elif node.op == "output":
                for name, value in zip(self.outputs, node.args[0], strict=True):
                    self.lines.append(
                        f"tl.store({name}_to + at, {self._operand(value)}, mask=inside)"
                    )
            elif node.op == "get_attr":
                value = getattr(graph, str(node.target))
                if value.numel() != 1:
                    raise _Unsuitable(f"{node.target} is a constant tensor")
                self.names[node] = _number(value.item())

    def _load(self, name: str, tensors: Mapping[str, torch.Tensor]) -> str:
        tensor = tensors[name]
        if not tensor.is_contiguous():
            raise _Unsuitable(f"{name} is not contiguous")
        if tuple(tensor.shape) == self.shape:
            where = "at"
        elif tensor.dim() == 1 and self.shape and tensor.shape[0] == self.shape[-1]:
            where = "at % COLUMNS"
        elif tensor.numel() == 1:
            where = "at * 0"
        else:
            raise _Unsuitable(f"{name} has another shape than the outputs")
        wide = ".to(tl.float32)" if tensor.is_floating_point() else ""
        if str(tensor.dtype) == "torch.float64":
            wide = ""
        self.lines.append(f"{name}_v = tl.load({name} + {where}, mask=inside){wide}")
        return f"{name}_v"

    def _operation(self, node: torch.fx.Node) -> None:
        name = str(node.target).split(".")[-2] if "." in str(node.target) else str(node.target)
        if name in {"empty", "empty_strided"}:
            return  # a buffer that is written before it is read
        write = _SPECIAL.get(name)
        if write is not None:
            text = write(self, node)
        elif name.rstrip("_") in _SAME or name in _SAME:
            text = self._same(node, name)
        elif name.rstrip("_") in _BINARY:
            text = self._binary(node, name.rstrip("_"))
        elif name.rstrip("_") in _UNARY:
            text = _UNARY[name.rstrip("_")].format(self._operand(node.args[0]))
        else:
            raise _Unsuitable(f"{name} is not elementwise")
        self.lines.append(f"{node.name} = {text}")
        self.names[node] = node.name

    def _same(self, node: torch.fx.Node, name: str) -> str:
        source = node.args[1] if name.startswith("copy") else node.args[0]
        before, after = _shape(source), _shape(node)
        if before != after and not (
            before and after and before[-1] == after[-1] and math.prod(before) == before[-1]
        ):
            raise _Unsuitable(f"{name} changes the shape")
        return self._operand(source)

    def _binary(self, node: torch.fx.Node, name: str) -> str:
        left, right = (self._operand(one) for one in node.args[:2])
        alpha: Any = node.kwargs.get("alpha", 1)
        if alpha != 1:
            right = f"({_number(alpha)} * {right})"
        if node.kwargs.get("rounding_mode") is not None:
            raise _Unsuitable("a division that rounds")
        return _BINARY[name].format(left, right)

    def _operand(self, value: Any) -> str:
        if value in self.names:
            return self.names[value]
        if isinstance(value, (bool, int, float)):
            return _number(value)
        raise _Unsuitable(f"{value} is no operand")


class _Unsuitable(Exception):  # noqa: N818 - it is caught here and becomes a NotPointwise
    """The graph cannot be one elementwise kernel."""


def _shape(node: Any) -> tuple[int, ...] | None:
    value = node.meta.get("val") if hasattr(node, "meta") else None
    return tuple(value.shape) if value is not None and hasattr(value, "shape") else None


def _number(value: float) -> str:
    if isinstance(value, float) and math.isinf(value):
        return 'float("inf")' if value > 0 else '-float("inf")'
    return repr(value)


def _gelu(writer: _Writer, node: torch.fx.Node) -> str:
    x = writer._operand(node.args[0])  # noqa: SLF001 - one module
    if node.kwargs.get("approximate") == "tanh":
        inner = f"0.7978845608028654 * ({x} + 0.044715 * {x} * {x} * {x})"
        return f"({x} * tl.sigmoid(2.0 * {inner}))"
    return f"(0.5 * {x} * (1.0 + tl.erf({x} * 0.7071067811865476)))"


def _where(writer: _Writer, node: torch.fx.Node) -> str:
    parts = ", ".join(writer._operand(one) for one in node.args[:3])  # noqa: SLF001 - one module
    return f"tl.where({parts})"


def _clamp(writer: _Writer, node: torch.fx.Node) -> str:
    x = writer._operand(node.args[0])  # noqa: SLF001 - one module
    low, high = (*node.args[1:], None, None)[:2]
    if low is not None:
        x = f"tl.maximum({x}, {_number(low)})"  # type: ignore[arg-type]  # a number in the graph
    return x if high is None else f"tl.minimum({x}, {_number(high)})"  # type: ignore[arg-type]


def _power(writer: _Writer, node: torch.fx.Node) -> str:
    x, exponent = writer._operand(node.args[0]), node.args[1]  # noqa: SLF001 - one module
    if exponent not in {2, 3, 0.5, -1}:
        raise _Unsuitable(f"a power of {exponent}")
    known = {2: "({0} * {0})", 3: "({0} * {0} * {0})", 0.5: "tl.sqrt({0})", -1: "(1.0 / {0})"}
    return known[exponent].format(x)  # type: ignore[index]  # one of the four


_SPECIAL: Final[dict[str, Callable[[_Writer, torch.fx.Node], str]]] = {
    "gelu": _gelu, "where": _where, "clamp": _clamp, "pow": _power,
    "clamp_min": lambda w, n: f"tl.maximum({w._operand(n.args[0])}, {w._operand(n.args[1])})",  # noqa: SLF001
    "clamp_max": lambda w, n: f"tl.minimum({w._operand(n.args[0])}, {w._operand(n.args[1])})",  # noqa: SLF001
}  # fmt: skip
