"""Which templates can stand in for a task, and why the others cannot."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec

from kbs_backends.templates import epsilon
from kbs_backends.templates.match import Match
from kbs_engine.templates import Template

_DTYPE: Final = {
    "float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16",
    "int64": "int64", "int32": "int32", "int8": "int8", "bool": "bool",
    "float8_e4m3fn": "fp8_e4m3", "float8_e5m2": "fp8_e5m2",
}  # fmt: skip


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A template with the match that it would serve, or the reasons why it cannot."""

    template: str
    match: Match
    refused: tuple[str, ...] = ()


def choose_templates(
    templates: Sequence[Template],
    matches: Sequence[Match],
    dtypes: Mapping[str, str],
    *,
    layouts: Mapping[str, str] | None = None,
    languages: Sequence[str] = (),
    arch: str = "",
    permitted: Collection[str] = (),
) -> tuple[Choice, ...]:
    """Every template of a matched operation, those that fit first.

    Args:
        templates: of the wiki.
        matches: of ``find_matches``.
        dtypes: torch's dtype of each tensor of the task, by name.
        layouts: of ``odd_layouts``: tensors that do not lie row after row, and how they lie.
        languages: only these; empty for all.
        arch: of the GPU, ``sm_90a``; empty when none is named.
        permitted: precisions that the task permits beyond its data types.
    """
    found = [
        Choice(
            template=template.id,
            match=match,
            refused=(
                *_layouts(match, layouts or {}),
                *template.refusals(match.dims, arch, permitted),
                *_refusals(template, match, dtypes),
            ),
        )
        for match in matches
        for template in templates
        if template.op == match.op and (not languages or template.language in languages)
    ]
    return tuple(sorted(found, key=lambda one: (bool(one.refused), one.template)))


def _layouts(match: Match, layouts: Mapping[str, str]) -> tuple[str, ...]:
    """Tensors that lie otherwise than every template reads and writes them."""
    return tuple(
        f"{name} is not contiguous ({layouts[name]}), its {role} lies row after row"
        for role, name in match.names.items()
        if name in layouts and name not in match.turned
    )


def _refusals(template: Template, match: Match, dtypes: Mapping[str, str]) -> tuple[str, ...]:
    reasons = []
    for name, value in match.options.items():
        if name == epsilon.NAME and name in template.options:
            continue  # a number that is handed over as it is
        if name in template.options and value not in template.options[name]:
            reasons.append(f"it does not implement {name} = {value}")
        elif name not in template.options and name not in {"transpose_b", "mean", "bins"}:
            default = {"activation": "none", "log": False, "causal": False, "scaled": True}
            if value != default.get(name, value):
                reasons.append(f"it does not implement {name} = {value}")
    by_role = {role.name: role for role in template.roles}
    for role, name in match.names.items():
        if role not in by_role:
            reasons.append(f"it has no {role}")
            continue
        dtype = _DTYPE.get(dtypes.get(name, ""), dtypes.get(name, "no tensor"))
        if dtype not in by_role[role].dtypes:
            reasons.append(f"{name} is {dtype}, it takes {', '.join(by_role[role].dtypes)}")
    kinds = {
        dtypes.get(match.names[role.name]) for role in template.inputs if role.name in match.names
    }
    if template.same_dtype and len(kinds) > 1:
        reasons.append(f"its inputs have one type, here {', '.join(sorted(map(str, kinds)))}")
    return tuple(reasons)
