"""A first correct kernel for a reference: a template, an elementwise kernel, or torch.compile's."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal

import msgspec

from kbs_backends.baseline.inductor import compiled_kernel
from kbs_backends.tasks.base import Inputs, Reference
from kbs_backends.tasks.outputs import not_empty
from kbs_backends.templates import (
    Match,
    arguments_of,
    but_for_epsilon,
    choose_templates,
    find_matches,
    instantiate,
)
from kbs_backends.templates.instance import place
from kbs_backends.templates.layout import odd_layouts
from kbs_backends.templates.pointwise import NotPointwise, pointwise_kernel
from kbs_engine.errors import MeasurementError, RefusedError
from kbs_engine.templates import Template
from kbs_engine.vocabulary import Language

Origin = Literal["template", "elementwise", "torch.compile"]
SEED = 20
"""Seed of the example values; no secret, nobody is judged by them."""


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel that was written for a task; not yet checked."""

    text: str
    language: Language
    origin: Origin
    template: str = ""
    match: Match | None = None
    tried: tuple[str, ...] = ()
    """What was tried before, and why it does not fit."""

    @property
    def suffix(self) -> str:
        """The ending of its file."""
        return ".cu" if self.language in {"cuda-cpp", "cutlass"} else ".py"


class _Place(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a template beside its operation."""

    wanted: tuple[str, ...]
    """Languages, in order of preference."""
    arch: str
    device: str
    permitted: tuple[str, ...] = ()


def make_baseline(
    reference: Reference,
    templates: Sequence[Template],
    *,
    languages: Sequence[str] = (),
    arch: str = "",
    device: str = "cpu",
) -> Baseline:
    """The first of: a template that fits, one elementwise kernel, torch.compile's own code.

    Args:
        reference: the task, bound to its dims. It is run.
        templates: of the wiki.
        languages: wanted, in order of preference; empty for any, Triton first.
        arch: of the GPU, for templates that need one.
        device: where the reference runs: ``cuda``, or ``cpu``.

    Raises:
        RefusedError: nothing fits; every reason is in the message.
        InputError: the reference fails, or its outputs are empty.
    """
    inputs = reference.make_inputs(SEED, "setup", device)
    not_empty(reference.specs(inputs), reference.where)
    tried: list[str] = []
    wanted = tuple(languages) or ("triton", "cuda-cpp", "cutlass")
    asked = _Place(wanted=wanted, arch=arch, device=device)
    fitting = _from_templates(reference, templates, inputs, asked, tried)
    found = next(fitting, None)
    if found is None and "triton" in wanted:
        found = _elementwise(reference, inputs, tried) or _generated(
            reference, inputs, device, tried
        )
    if found is None:
        raise RefusedError(
            "no first kernel can be made: " + "; ".join(tried),
            remedy="write one by hand, or allow another language with --language",
        )
    return msgspec.structs.replace(found, tried=tuple(tried))


def fitting_templates(
    reference: Reference,
    templates: Sequence[Template],
    *,
    languages: Sequence[str],
    arch: str = "",
    device: str = "cpu",
    permitted: Collection[str] = (),
) -> tuple[tuple[Baseline, ...], tuple[str, ...]]:
    """Every template that computes what the reference does, written out for it.

    Args:
        reference: the task, bound to its dims. It is run.
        templates: of the wiki.
        languages: wanted, in order of preference.
        arch: of the GPU, for templates that need one.
        device: where the reference runs: ``cuda``, or ``cpu``.
        permitted: precisions that the task permits beyond its data types.

    Returns:
        The templates, those of the first language first, and why others do not fit.
    """
    inputs = reference.make_inputs(SEED, "setup", device)
    tried: list[str] = []
    asked = _Place(wanted=tuple(languages), arch=arch, device=device, permitted=tuple(permitted))
    found = tuple(_from_templates(reference, templates, inputs, asked, tried))
    return found, tuple(tried)


def _from_templates(
    reference: Reference,
    templates: Sequence[Template],
    inputs: Inputs,
    asked: _Place,
    tried: list[str],
) -> Iterator[Baseline]:
    matches = find_matches(reference, op=declared_op(reference), device=asked.device)
    if not matches:
        near = but_for_epsilon(reference, device=asked.device)
        tried.append(
            f"the reference is {near} but for its epsilon, which templates add under the root"
            if near
            else "the reference computes none of the operations that templates have"
        )
        return
    dtypes = {
        name: str(value.dtype).removeprefix("torch.")
        for name, value in inputs.items()
        if hasattr(value, "dtype")
    }
    choices = choose_templates(
        templates, matches, dtypes, layouts=odd_layouts(inputs), languages=asked.wanted,
        arch=asked.arch, permitted=asked.permitted,
    )  # fmt: skip
    tried += [f"{one.template}: {reason}" for one in choices for reason in one.refused]
    fitting = [one for one in choices if not one.refused]
    by_id = {template.id: template for template in templates}
    fitting.sort(key=lambda one: (asked.wanted.index(by_id[one.template].language), one.template))
    if not choices:
        tried.append(f"no template of {matches[0].op} in {', '.join(asked.wanted)}")
    arguments, outputs = arguments_of(inputs), tuple(reference.output_names)
    best = {one.template: one for one in reversed(fitting)}
    for one in (one for one in fitting if best[one.template] is one):
        template = by_id[one.template]
        yield Baseline(
            text=instantiate(template, one.match, arguments, outputs),
            language=template.language, origin="template", template=template.id, match=one.match,
        )  # fmt: skip


def _elementwise(reference: Reference, inputs: Inputs, tried: list[str]) -> Baseline | None:
    made = pointwise_kernel(reference, inputs)
    if isinstance(made, NotPointwise):
        tried.append(f"not elementwise: {made.why}")
        return None
    call = ", ".join(f'kwargs["{name}"]' for name in (*made.inputs, *made.outputs))
    text = place(made.text, call, arguments_of(inputs), made.outputs)
    return Baseline(text=text, language="triton", origin="elementwise")


def _generated(
    reference: Reference, inputs: Inputs, device: str, tried: list[str]
) -> Baseline | None:
    if device != "cuda":
        tried.append("torch.compile: needs an NVIDIA GPU to generate Triton")
        return None
    try:
        text = compiled_kernel(reference, inputs, arguments_of(inputs), device)
    except MeasurementError as problem:
        tried.append(problem.message)
        return None
    return Baseline(text=text, language="triton", origin="torch.compile")


def declared_op(reference: Any) -> str:
    """``op = "softmax"`` of a ref.py; empty where it declares none."""
    function = getattr(reference, "function", None)
    names = getattr(function(), "__globals__", {}) if function else {}
    found = names.get("op", "")
    return found if isinstance(found, str) else ""
