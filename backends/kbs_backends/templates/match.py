"""Which operation a reference computes, found by comparing values.

Roles are filled with the task's tensors wherever shapes and kinds of types fit, and the
operation's definition is compared with what the reference returns on several draws. A match
is not a proof, and need not be one: every kernel made from it passes the full check.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kbs_backends.tasks.base import Inputs, Reference
from kbs_backends.templates import epsilon
from kbs_backends.templates.agreement import NEARLY, agrees, given_roles
from kbs_backends.templates.layout import column_majors, turned
from kbs_backends.templates.ops import OPS, Op
from kbs_engine.errors import KbsError
from kbs_engine.templates import unify

if TYPE_CHECKING:
    import torch

Draw = tuple[Inputs, dict[str, "torch.Tensor"]]
"""Arguments, and what the reference gives for them."""

DRAWS: Final = ((11, "setup"), (12, "normal"), (13, "setup"))
"""Seed and distribution of each comparison. The seeds are no secret: nobody is judged."""

TINY: Final = (14, "tiny_scale")
"""One draw more where a definition adds an epsilon: only beside small values does it show."""

SMALL_DIM: Final = 128
"""A larger dim is cut to about this for the search."""

FP64_ELEMENTS: Final = 1 << 26
"""Above this many elements the comparison runs in the task's own types, to save memory."""


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """An operation that a task computes, with the task's names for its roles."""

    op: str
    names: dict[str, str]
    """Role → the task's tensor; inputs and outputs."""
    options: dict[str, Any]
    dims: dict[str, int]
    turned: tuple[str, ...] = ()
    """Tensors that play their role as they lie in memory: with their last two dims swapped."""


def find_matches(reference: Reference, *, op: str = "", device: str = "cpu") -> tuple[Match, ...]:
    """The operations that ``reference`` computes; normally none or one.

    A large task is searched at small dims, and what is found there is compared once at its own:
    a search by values at full size takes minutes on a CPU.

    ``op`` is what the reference declares: then only that one is tried.
    """
    small = smaller(reference)
    if small is not None:
        try:
            found = _search(small, op, device)
        except KbsError:
            found = ()  # it does not compute at other dims; at its own it may
        at_size = [_at_size(reference, match, device) for match in found]
        if all(at_size) and found:
            return tuple(match for match in at_size if match)
    return _search(reference, op, device)


def but_for_epsilon(reference: Reference, *, device: str = "cpu") -> str:
    """The normalization that ``reference`` is but for its epsilon; empty where it is none.

    For references of which ``find_matches`` found nothing: any epsilon under the root it finds.
    """
    try:
        draws = [_draw(smaller(reference) or reference, *draw, device) for draw in DRAWS]
    except KbsError:
        return ""
    inputs, expected = draws[0]
    tensors = {n: v for n, v in inputs.items() if hasattr(v, "shape") and n not in expected}
    for op in OPS.values():
        if epsilon.NAME in op.options:
            options = {epsilon.NAME: epsilon.USUAL}
            for names, _ in assignments(op, tensors, expected):
                if all(agrees(op, names, options, *draw, bound=NEARLY) for draw in draws):
                    return op.name
    return ""


def smaller(reference: Reference) -> Reference | None:
    """The same at small dims, distinct ones distinct; None where that is no other task."""
    sizes = {value for value in reference.dims.values() if type(value) is int and value > SMALL_DIM}
    if not sizes:
        return None
    cut = {size: SMALL_DIM + 32 * rank for rank, size in enumerate(sorted(sizes))}
    if any(small >= size for size, small in cut.items()):
        return None
    dims = {
        name: cut.get(value, value) if type(value) is int else value
        for name, value in reference.dims.items()
    }
    return reference.with_dims(dims)


def _at_size(reference: Reference, match: Match, device: str) -> Match | None:
    """A match at small dims seen at the task's own; None where values differ there."""
    op = OPS[match.op]
    inputs, expected = _draw(reference, *DRAWS[0], device)
    across = frozenset(match.turned)
    if not across <= column_majors(inputs):
        return None
    inputs, expected = turned(inputs, across), turned(expected, across)
    dims = _fit(op, match.names, inputs, expected)
    if dims is None:
        return None
    known = list(_options(op, match.dims))
    options = match.options  # with an epsilon that was solved for it is none of them
    if options in known:
        options = list(_options(op, dims))[known.index(options)]
    if not agrees(op, match.names, options, inputs, expected):
        return None
    return msgspec.structs.replace(match, options=options, dims=dims)


def _search(reference: Reference, op: str, device: str) -> tuple[Match, ...]:
    """Matches of the tensors as the reference sees them, and as they lie in memory."""
    draws = [_draw(reference, seed, distribution, device) for seed, distribution in DRAWS]
    tiny = functools.cache(lambda: _draw(reference, *TINY, device))
    ops = [OPS[op]] if op else list(OPS.values())
    across = column_majors(draws[0][0])
    found: list[Match] = []
    for names in (frozenset[str](), across) if across else (frozenset[str](),):

        def seen(draw: Draw, names: frozenset[str] = names) -> Draw:
            return turned(draw[0], names), turned(draw[1], names)

        found += [
            msgspec.structs.replace(match, turned=tuple(sorted(names)))
            for match in _matches(ops, [seen(draw) for draw in draws], lambda: [seen(tiny())])
        ]
    return tuple(found)


def _matches(
    ops: Sequence[Op], draws: Sequence[Draw], tiny: Callable[[], list[Draw]]
) -> Iterator[Match]:
    """At most one match of each operation."""
    inputs, expected = draws[0]
    tensors = {
        name: value
        for name, value in inputs.items()
        if hasattr(value, "shape") and name not in expected
    }
    for one in ops:
        for names, dims in assignments(one, tensors, expected):
            small = tiny() if epsilon.NAME in one.options else []
            tried = (*_options(one, dims), *_with_solved(one, names, small))
            options = next(
                (o for o in tried if all(agrees(one, names, o, *d) for d in (*draws, *small))), None
            )
            if options is not None:
                yield Match(op=one.name, names=names, options=options, dims=dims)
                break


def _with_solved(
    op: Op, names: Mapping[str, str], small: Sequence[Draw]
) -> Iterator[dict[str, Any]]:
    """Options with the epsilon that the reference's values tell, where it has one."""
    for inputs, expected in small:
        wanted = expected[names[next(iter(op.outputs))]]
        solved = epsilon.solved_epsilons(
            op, given_roles(op, names, inputs, wanted.dtype), wanted, {}
        )
        yield from ({epsilon.NAME: one} for one in solved)


def _draw(reference: Reference, seed: int, distribution: str, device: str) -> Draw:
    inputs = reference.make_inputs(seed, distribution, device)
    total = sum(value.numel() for value in inputs.values() if hasattr(value, "numel"))
    return inputs, reference.expected(inputs, "fp64" if total <= FP64_ELEMENTS else None)


def assignments(
    op: Op, tensors: Mapping[str, torch.Tensor], outputs: Mapping[str, torch.Tensor]
) -> Iterator[tuple[dict[str, str], dict[str, int]]]:
    """Ways to fill the roles of ``op`` so that every tensor of the task is used once."""
    if len(outputs) != len(op.outputs):
        return
    required = [role for role in op.inputs if role not in op.optional]
    optional = [role for role in op.inputs if role in op.optional]
    extra = len(tensors) - len(required)
    if not 0 <= extra <= len(optional):
        return
    for chosen in itertools.combinations(optional, extra):
        roles = [role for role in op.inputs if role in required or role in chosen]
        for order in itertools.permutations(tensors, len(roles)):
            for out_order in itertools.permutations(outputs, len(op.outputs)):
                names = dict(zip((*roles, *op.outputs), (*order, *out_order), strict=True))
                dims = _fit(op, names, tensors, outputs)
                if dims is not None:
                    yield names, dims


def _fit(
    op: Op,
    names: Mapping[str, str],
    tensors: Mapping[str, torch.Tensor],
    outputs: Mapping[str, torch.Tensor],
) -> dict[str, int] | None:
    dims: dict[str, int] | None = {}
    for role, shape in (*op.inputs.items(), *op.outputs.items()):
        if role not in names or dims is None:
            continue
        tensor = tensors[names[role]] if role in op.inputs else outputs[names[role]]
        if role in op.inputs and tensor.is_floating_point() == (role in op.integer):
            return None
        dims = unify(shape, tuple(tensor.shape), dims)
    return dims


def _options(op: Op, dims: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    names = list(op.options)
    for values in itertools.product(*op.options.values()):
        yield {
            name: dims[value] if isinstance(value, str) and value in dims else value
            for name, value in zip(names, values, strict=True)
        }
