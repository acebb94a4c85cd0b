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
    BINARY,
    SAME,
    SPECIAL,
    UNARY,
    Unsuitable,
    number,
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
        self.double = False
        """Whether it computes in fp64, where Triton would round a bare number to fp32 (3.7)."""
        self.lines: list[str] = []
        self.names: dict[Any, str] = {}

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
        self.double = any(str(tensors[name].dtype) == "torch.float64" for name in self.read)
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
                    raise Unsuitable(f"{node.target} is a constant tensor")
                self.names[node] = self._operand(value.item())

    def _load(self, name: str, tensors: Mapping[str, torch.Tensor]) -> str:
        tensor = tensors[name]
        if tuple(tensor.shape) == self.shape:
            where = "at"
        elif not row_major(tensor):
            raise Unsuitable(f"{name} is not contiguous")
        elif not self.straight and tensor.numel() > 1:
            raise Unsuitable(f"{name} repeats along rows, and rows do not lie one after the other")
        elif tensor.dim() == 1 and self.shape and tensor.shape[0] == self.shape[-1]:
            where = "at % COLUMNS"
        elif tensor.numel() == 1:
            where = "at * 0"
        else:
            raise Unsuitable(f"{name} has another shape than the outputs")
        wide = ".to(tl.float32)" if tensor.is_floating_point() else ""
        if str(tensor.dtype) == "torch.float64":
            wide = ""
        self.lines.append(f"{name}_v = tl.load({name} + {where}, mask=inside){wide}")
        return f"{name}_v"

    def _operation(self, node: torch.fx.Node) -> None:
        name = str(node.target).split(".")[-2] if "." in str(node.target) else str(node.target)
        if name in {"empty", "empty_strided", "new_empty", "empty_like"}:
            return  # a buffer that is written before it is read
        if name == "scalar_tensor":
            self.names[node] = self._operand(node.args[0])
            return
        write = SPECIAL.get(name)
        if write is not None:
            text = write(self._operand, node)
        elif name.rstrip("_") in SAME or name in SAME:
            text = self._same(node, name)
        elif name.rstrip("_") in BINARY:
            text = self._binary(node, name.rstrip("_"))
        elif name.rstrip("_") in UNARY:
            text = UNARY[name.rstrip("_")].format(self._operand(node.args[0]))
        else:
            raise Unsuitable(f"{name} is not elementwise")
        self.lines.append(f"{node.name} = {text}")
        self.names[node] = node.name

    def _same(self, node: torch.fx.Node, name: str) -> str:
        source = node.args[1] if name.startswith("copy") else node.args[0]
        before, after = _shape(source), _shape(node)
        if before != after and not (
            before and after and before[-1] == after[-1] and math.prod(before) == before[-1]
        ):
            raise Unsuitable(f"{name} changes the shape")
        return self._operand(source)

    def _binary(self, node: torch.fx.Node, name: str) -> str:
        left, right = (self._operand(one) for one in node.args[:2])
        alpha: Any = node.kwargs.get("alpha", 1)
        if alpha != 1 and name == "rsub":
            raise Unsuitable("a subtraction from a multiple")
        if alpha != 1:
            right = f"({number(alpha)} * {right})"
        if node.kwargs.get("rounding_mode") is not None:
            raise Unsuitable("a division that rounds")
        return BINARY[name].format(left, right)

    def _operand(self, value: Any) -> str:
        if value in self.names:
            return self.names[value]
        if isinstance(value, float) and self.double:
            return f"tl.full([], {number(value)}, tl.float64)"
        if isinstance(value, (bool, int, float)):
            return number(value)
        raise Unsuitable(f"{value} is no operand")


def _shape(node: Any) -> tuple[int, ...] | None:
    value = node.meta.get("val") if hasattr(node, "meta") else None
    return tuple(value.shape) if value is not None and hasattr(value, "shape") else None
