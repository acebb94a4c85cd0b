"""Partial results stored and summed by a second kernel in place of atomics on one address."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.copies import (
    arguments,
    branch_launch,
    copied,
    each_kernel,
    given,
    grid_size,
    reassigned_params,
    torch_name,
)
from kbs_backends.rewrites.triton.dataflow import Flow, pointer_of
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.uses import Uses
from kbs_backends.rewrites.triton.view import Kernel, argument, view_of, walk
from kbs_backends.variants.records import Edit

METHOD = "two_stage_reduction"
_SUFFIX = "_kbs_partial"
_FINISH = '''
@{triton}.jit
def kbs_finish(out_ptr, kbs_partial, kbs_count, KBS_WIDTH: {tl}.constexpr):
    """Add all partial results, in a fixed order, to what stands at ``out_ptr``."""
    kbs_total = {tl}.zeros([KBS_WIDTH], dtype=kbs_partial.dtype.element_ty)
    for kbs_start in range(0, kbs_count, KBS_WIDTH):
        kbs_offsets = kbs_start + {tl}.arange(0, KBS_WIDTH)
        kbs_total += {tl}.load(kbs_partial + kbs_offsets, mask=kbs_offsets < kbs_count, other=0)
    {tl}.store(out_ptr, {tl}.load(out_ptr) + {tl}.sum(kbs_total, axis=0))
'''


def rewrite(source: RewriteSource) -> Rewritten:
    """Replace scalar ``tl.atomic_add`` by two stages; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    torch = torch_name(view)
    done = each_kernel(view, lambda kernel: _one(draft, kernel, torch))
    draft.tunable("KBS_FINISH_WIDTH", 1024, (256, 1024, 4096), host=True)
    text = _FINISH.format(triton=view.triton, tl=view.tl)
    draft.below(text, max(view.line_end(kernel.node) for kernel in done))
    return draft.finish(f"two stages: {', '.join(k.name for k in done)}", host=True)


def _one(draft: TritonDraft, kernel: Kernel, torch: str) -> None:
    view = draft.view
    atomic, target = _single_atomic(kernel)
    value = argument(atomic, "val", 1)
    if value is None or kernel.autotuned:
        raise NotApplicableError(f"{kernel.name} is autotuned or adds nothing")
    store = f"{view.tl}.store(kbs_partial + {view.tl}.program_id(0), {view.code(value.value)})"
    name = kernel.name + _SUFFIX
    branches = TritonDraft(view, METHOD)
    for launch in view.launches_of(kernel):
        size, out = grid_size(view, launch), given(view, kernel, launch, target)
        if sum(view.code(one.value) == out for one in launch.call.args) > 1:
            raise NotApplicableError(f"{kernel.name} is given {out} twice")
        lines = [
            f"kbs_count = {size}",
            f"kbs_partial = {torch}.empty(kbs_count, dtype={out}.dtype, device={out}.device)",
            f"{name}[(kbs_count,)](kbs_partial, {arguments(view, launch)})",
            f"kbs_finish[(1,)]({out}, kbs_partial, kbs_count, KBS_WIDTH=KBS_FINISH_WIDTH)",
        ]
        branch_launch(branches, launch, draft.switch, lines)
    edits = [Edit(*view.tree.span(atomic), store)]
    text = copied(view, kernel, name, "kbs_partial", edits)
    draft.edits += branches.edits
    draft.below(text, view.line_end(kernel.node))


def _single_atomic(kernel: Kernel) -> tuple[cst.Call, str]:
    """The only atomic of a kernel, an addition to where one parameter points, unmasked."""
    atomics = [
        node
        for node in kernel.walk()
        if isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value.startswith("atomic_")
    ]
    if len(atomics) != 1 or not kernel.is_tl(atomics[0], "atomic_add"):
        raise NotApplicableError(f"{kernel.name} has no single tl.atomic_add")
    atomic = atomics[0]
    pointer = pointer_of(atomic)
    if not isinstance(pointer, cst.Name) or pointer.value not in kernel.params:
        raise NotApplicableError(f"{kernel.name} adds to more than one address")
    if argument(atomic, "mask", 2) is not None:
        raise NotApplicableError(f"{kernel.name} adds under a mask")
    above = kernel.view.tree.ancestors(atomic)
    inside = above[: above.index(kernel.node)]
    if any(isinstance(one, cst.For | cst.While | cst.If) for one in inside):
        raise NotApplicableError(f"{kernel.name} adds in a loop or branch")
    statement = kernel.view.tree.parent(atomic)
    if not isinstance(statement, cst.Expr):
        raise NotApplicableError(f"{kernel.name} uses what its atomic returns")
    if any(isinstance(node, cst.Return) for node in kernel.walk()):
        raise NotApplicableError(f"{kernel.name} returns early: some programs may add nothing")
    if len(Uses(kernel).reads[pointer.value]) > 1 or pointer.value in reassigned_params(kernel):
        raise NotApplicableError(f"{kernel.name} uses {pointer.value} beside what it adds to")
    value = argument(atomic, "val", 1)
    if value is None or not _one_value(kernel, Flow(kernel), value.value, set()):
        raise NotApplicableError(f"{kernel.name} adds what may be more than one value")
    return atomic, pointer.value


def _one_value(  # noqa: PLR0911 - one a kind
    kernel: Kernel, flow: Flow, node: cst.BaseExpression, seen: set[str]
) -> bool:
    """Return whether a value is a single number: reduced from a block, or never one."""
    if isinstance(node, cst.Name):
        if node.value in seen:
            return True
        seen.add(node.value)
        found = [*flow.values.get(node.value, [])]
        found += [change.value for change in flow.augmented.get(node.value, [])]
        return all(_one_value(kernel, flow, one, seen) for one in found)
    if isinstance(node, cst.BinaryOperation):
        return all(_one_value(kernel, flow, one, seen) for one in (node.left, node.right))
    if isinstance(node, cst.UnaryOperation):
        return _one_value(kernel, flow, node.expression, seen)
    if not isinstance(node, cst.Call):
        return isinstance(node, cst.BaseNumber)
    if kernel.is_tl(node, "sum", "max", "min"):
        axis = argument(node, "axis", 1)
        first = axis is not None and kernel.view.code(axis.value) == "0"
        return axis is None or (first and not _two_axes(kernel, flow, node))
    if kernel.is_tl(node, "arange", "zeros", "full"):
        return False
    inner = [one.value for one in node.args]
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "to":
        inner = [node.func.value]
    return all(_one_value(kernel, flow, one, seen) for one in inner)


def _two_axes(kernel: Kernel, flow: Flow, node: cst.CSTNode) -> bool:
    """Return whether a value depends on a block of two axes."""
    return any(
        isinstance(inner, cst.Subscript) or kernel.is_tl(inner, "dot", "reshape", "expand_dims")
        for source in flow.sources(node)
        for inner in walk(source)
    )
