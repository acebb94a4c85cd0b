"""A Triton kernel for a reference that is elementwise throughout, from its traced graph.

The reference is traced into torch's basic operations (``make_fx``). When each of them works
element by element, on tensors of one shape, on rows that repeat (the last dim) and on numbers,
the whole expression becomes one kernel: each input is read once, each output written once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kbs_backends.tasks.base import Inputs, Reference
from kbs_backends.templates.functions import needed_functions
from kbs_backends.templates.layout import row_major, same_order
from kbs_backends.templates.pointwise_ops import (
    ACTIVATIONS,
    BINARY,
    CASTS,
    SAME,
    UNARY,
    Form,
    bounded,
    power,
)
from kbs_backends.templates.pointwise_values import (
    HALVES,
    Unsuitable,
    Value,
    constant,
    converted,
    kind_of,
    literal,
    loaded,
    named,
    promoted,
    settled,
)
from kbs_backends.templates.trace import trace
from kbs_engine.errors import MeasurementError

if TYPE_CHECKING:
    import torch

_CODE: Final = '''"""Elementwise kernel written out from the traced reference."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

BLOCK = 1024  # kbs:tunable 512, 1024, 2048, 4096
NUM_WARPS = 4  # kbs:tunable 4, 8
{functions}

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
    shapes = {tuple(tensors[name].shape) for name in reference.output_names if name in tensors}
    if len(shapes) != 1:
        return NotPointwise(why="the outputs have several shapes")
    try:
        traced = trace(reference, inputs)
    except MeasurementError as problem:
        return NotPointwise(why=problem.message)
    if not traced.read:
        return NotPointwise(why="no tensor is read")
    shape = shapes.pop()
    named = {*traced.read, *reference.output_names}
    whole = {name: tensors[name] for name in tensors if name in named}
    whole = {name: value for name, value in whole.items() if tuple(value.shape) == shape}
    if any(not row_major(value) for value in whole.values()) and not same_order(whole):
        odd = ", ".join(f"{name} {tuple(value.stride())}" for name, value in whole.items())
        return NotPointwise(why=f"the tensors do not lie alike in memory (strides of {odd})")
    straight = all(map(row_major, whole.values()))
    writer = _Writer(shape, traced.read, reference.output_names, straight=straight)
    return writer.write(traced.graph, tensors)


class _Writer:
    """Turns a graph into the body of the kernel, one line for each operation."""

    def __init__(
        self, shape: tuple[int, ...], read: Sequence[str], outputs: Sequence[str], *, straight: bool
    ) -> None:
        self.shape, self.read, self.outputs = shape, list(read), list(outputs)
        self.straight = straight
        """Whether the elements lie in memory in the order of their indices."""
        self.lines: list[str] = []
        self.values: dict[Any, Value] = {}

    def write(
        self, graph: torch.fx.GraphModule, tensors: Mapping[str, torch.Tensor]
    ) -> Pointwise | NotPointwise:
        try:
            self._body(graph, tensors)
        except Unsuitable as problem:
            return NotPointwise(why=str(problem))
        body = "\n".join(f"    {line}" for line in self.lines)
        pointers = ", ".join([*self.read, *(f"{name}_to" for name in self.outputs)])
        first = f"{self.outputs[0]}_to"
        text = _CODE.format(
            pointers=pointers,
            functions=needed_functions(body),
            body=body,
            first=first,
            columns=self.shape[-1] if self.shape else 1,
        )
        return Pointwise(text=text, inputs=tuple(self.read), outputs=tuple(self.outputs))

    def _body(self, graph: torch.fx.GraphModule, tensors: Mapping[str, torch.Tensor]) -> None:
        placeholders = iter(self.read)
        for node in graph.graph.nodes:
            if node.op == "placeholder":
                self.values[node] = self._load(next(placeholders), tensors)
            elif node.op == "call_function":
                self._operation(node)
            elif node.op == "output":
                for name, value in zip(self.outputs, node.args[0], strict=True):
                    stored = self._operand(value, tensors[name].dtype)
                    self.lines.append(f"tl.store({name}_to + at, {stored}, mask=inside)")
            elif node.op == "get_attr":
                value = getattr(graph, str(node.target))
                if value.numel() != 1:
                    raise Unsuitable(f"{node.target} is a constant tensor")
                node.meta["val"] = value
                self.values[node] = constant(value.item(), value.dtype)

    def _load(self, name: str, tensors: Mapping[str, torch.Tensor]) -> Value:
        tensor = tensors[name]
        if tuple(tensor.shape) == self.shape:
            where = "at"
        elif not row_major(tensor):
            raise Unsuitable(f"{name} is not contiguous")
        elif not self.straight and tensor.numel() > 1:
            raise Unsuitable(f"{name} repeats along rows, and rows do not lie one after the other")
        elif _is_row(tuple(tensor.shape), self.shape):
            where = "at % COLUMNS"
        elif tensor.numel() == 1:
            where = "at * 0"
        else:
            raise Unsuitable(f"{name} has another shape than the outputs")
        value = loaded(f"tl.load({name} + {where}, mask=inside)", tensor.dtype)
        self.lines.append(f"{name}_v = {value.text}")
        return Value(f"{name}_v", tensor.dtype)

    def _operation(self, node: torch.fx.Node) -> None:
        name = _name(node)
        if name in {"empty", "empty_strided", "new_empty", "empty_like"}:
            return  # a buffer that is written before it is read
        if name == "scalar_tensor":
            self.values[node] = constant(node.args[0], _dtype(node))
            return
        value = self._value(name.rstrip("_"), node)
        if value.dtype != _dtype(node):
            raise Unsuitable(f"{name} gives {named(_dtype(node))} of {named(value.dtype)}")
        self.lines.append(f"{node.name} = {value.text}")
        self.values[node] = msgspec.structs.replace(value, text=node.name)

    def _value(self, name: str, node: torch.fx.Node) -> Value:
        if name in SAME:
            return self._same(node, name)
        form = BINARY.get(name) or UNARY.get(name)
        if form is not None:
            return self._form(node, name, form, count=2 if name in BINARY else 1)
        dtype = _dtype(node)
        computed = named(dtype) not in HALVES
        if name == "where":
            truth, *parts = node.args[:3]
            texts = [self._operand(truth, promoted((), "truth"))]
            texts += [self._operand(one, dtype) for one in parts]
            return Value(f"tl.where({', '.join(texts)})", dtype, computed)
        if name in {"clamp", "clamp_min", "clamp_max"}:
            return Value(self._clamp(node, name), dtype, computed)
        if name == "pow":
            dtype = promoted([_tensor(one) for one in node.args[:2]], "counted")
            x = self._operand(node.args[0], dtype)
            return Value(power(x, node.args[1], dtype), dtype, computed)
        if name in ACTIVATIONS and kind_of(dtype) == "real":
            text = ACTIVATIONS[name](lambda one: self._operand(one, dtype), node)
            return Value(text, dtype, computed)
        raise Unsuitable(f"{name} is not elementwise")

    def _form(self, node: torch.fx.Node, name: str, form: Form, *, count: int) -> Value:
        if node.kwargs.get("rounding_mode") is not None:
            raise Unsuitable("a division that rounds")
        given = node.args[:count]
        dtype = promoted([_tensor(one) for one in given], form.takes)
        texts = [self._operand(one, dtype, settle=form.jumps) for one in given]
        alpha: Any = node.kwargs.get("alpha", 1)
        if alpha != 1 and (name == "rsub" or kind_of(dtype) == "truth"):
            raise Unsuitable(f"{name} of a multiple of {named(dtype)}")
        if alpha != 1:
            texts[1] = f"({literal(alpha, dtype)} * {texts[1]})"
        text = form.of(name, dtype).format(*texts)
        if form.gives_truth:
            return Value(text, promoted((), "truth"))
        return Value(text, dtype, exact=named(dtype) not in HALVES)

    def _clamp(self, node: torch.fx.Node, name: str) -> str:
        x, *bounds = node.args
        low, high = (*bounds, None, None)[:2] if name != "clamp_max" else (None, bounds[0])
        texts = [
            None if one is None else self._operand(one, _dtype(node)) for one in (x, low, high)
        ]
        return bounded(str(texts[0]), texts[1], texts[2], _dtype(node))

    def _same(self, node: torch.fx.Node, name: str) -> Value:
        source = node.args[1] if name == "copy" else node.args[0]
        before, after = _shape(source), _shape(node)
        if before != after and not (
            before and after and before[-1] == after[-1] and math.prod(before) == before[-1]
        ):
            raise Unsuitable(f"{name} changes the shape")
        if source not in self.values:
            raise Unsuitable(f"{source} is no operand")
        value = self.values[source]
        return converted(value, _dtype(node)) if name in CASTS else value

    def _operand(self, value: Any, dtype: torch.dtype, *, settle: bool = False) -> str:
        """A value of the graph, or a number, as text of the type that is computed in."""
        if value in self.values:
            found = converted(self.values[value], dtype)
            return (settled(found) if settle else found).text
        if isinstance(value, (bool, int, float)):
            return literal(value, dtype, rounded=settle)
        raise Unsuitable(f"{value} is no operand")


def _is_row(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether a tensor is one row that repeats: ``(N,)`` or ``(1, N)`` beside ``(M, N)``."""
    row = len(whole) >= len(shape) > 0 and shape[-1] == whole[-1]
    return row and math.prod(shape) == shape[-1]


def _tensor(value: Any) -> Any:
    """The example tensor of a node; a number as it is."""
    return value.meta["val"] if hasattr(value, "meta") else value


def _dtype(node: torch.fx.Node) -> torch.dtype:
    value = node.meta["val"]
    if not hasattr(value, "dtype"):
        raise Unsuitable(f"{_name(node)} is not elementwise: it gives several tensors")
    dtype: torch.dtype = value.dtype
    return dtype


def _name(node: torch.fx.Node) -> str:
    """The operation of a node, without its overload."""
    target = str(node.target)
    return target.split(".")[-2] if "." in target else target


def _shape(node: Any) -> tuple[int, ...] | None:
    value = node.meta.get("val") if hasattr(node, "meta") else None
    return tuple(value.shape) if value is not None and hasattr(value, "shape") else None
