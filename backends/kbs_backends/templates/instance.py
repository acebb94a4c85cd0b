"""A template written out as a kernel of a task: its names, shapes and options filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from kbs_backends.templates.layout import row_major
from kbs_backends.templates.match import Match
from kbs_engine.errors import UsageError
from kbs_engine.templates import Template

_BLOCK: Final = re.compile(
    r"^[ \t]*(?:#|//) kbs:adapter.*?^[ \t]*(?:#|//) kbs:end[^\n]*\n?", re.MULTILINE | re.DOTALL
)
_C_TYPES: Final = {
    "float64": "double", "float32": "float", "float16": "__half", "bfloat16": "__nv_bfloat16",
    "int64": "long long", "int32": "int", "int8": "signed char", "bool": "bool",
}  # fmt: skip


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """One argument of a task: a tensor by shape and dtype, or a scalar by value."""

    name: str
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    """As torch writes it, without ``torch.``."""
    stride: tuple[int, ...] | None = None
    """Only where it does not lie row after row."""
    value: int | float | str | bool | None = None


def arguments_of(inputs: Mapping[str, Any]) -> tuple[Argument, ...]:
    """The arguments of ``Reference.make_inputs``, in order."""
    return tuple(
        Argument(
            name=name,
            shape=tuple(value.shape),
            dtype=str(value.dtype).removeprefix("torch."),
            stride=None if row_major(value) else tuple(value.stride()),
        )
        if hasattr(value, "shape")
        else Argument(name=name, value=value)
        for name, value in inputs.items()
    )


def instantiate(
    template: Template,
    match: Match,
    arguments: tuple[Argument, ...],
    outputs: tuple[str, ...],
) -> str:
    """The text of a kernel: the template's source with its adapter block made for this task.

    Raises:
        UsageError: the language of the template has no adapter.
    """
    if template.language in {"cuda-cpp", "cutlass"}:
        block = _cuda_block(template, match, arguments)
    elif template.language in {"triton", "cute-dsl", "flydsl"}:
        block = _python_block(template, match, arguments, outputs)
    else:
        raise UsageError(f"a template in {template.language} cannot be written out")
    note = f"From the template {template.id} ({template.citation}), written out for this task."
    mark = "//" if template.language in {"cuda-cpp", "cutlass"} else "#"
    text = _BLOCK.sub(lambda _: f"{mark} {note}\n{block}", template.text, count=1)
    return text if text.endswith("\n") else text + "\n"


def _python_block(
    template: Template, match: Match, arguments: tuple[Argument, ...], outputs: tuple[str, ...]
) -> str:
    given = [
        f'{role.name}=kwargs["{match.names[role.name]}"]'
        + (".mT" if match.names[role.name] in match.turned else "")
        for role in template.roles
        if role.name in match.names
    ]
    options = [
        f"{name}={value!r}" for name, value in match.options.items() if name in template.options
    ]
    return _entry(", ".join([*given, *options]), arguments, outputs)


def _entry(call: str, arguments: Sequence[Argument], outputs: Sequence[str]) -> str:
    setup = python_setup(arguments, outputs)
    return f"{setup}\n\n\ndef run_kernel(**kwargs):\n    launch({call})\n"


def python_setup(arguments: Sequence[Argument], outputs: Sequence[str]) -> str:
    """A ``setup`` with the task's shapes; it uses ``torch`` and ``DEVICE`` of its module."""
    lines = [
        "def setup(**dims):",
        '    """Arguments of the task\'s shapes. A check draws its own."""',
        "    inputs = {}",
        *(f"    inputs[{one.name!r}] = {_made(one)}" for one in arguments),
        f'    return {{"inputs": inputs, "outputs": {list(outputs)!r}}}',
    ]
    return "\n".join(lines)


def place(text: str, call: str, arguments: Sequence[Argument], outputs: Sequence[str]) -> str:
    """A Python source with its adapter block made: ``call`` are the arguments of ``launch``."""
    return _BLOCK.sub(lambda _: _entry(call, arguments, outputs), text, count=1)


def _made(one: Argument) -> str:
    if one.shape is None:
        return repr(one.value)
    if one.stride is not None:
        repeated = tuple(
            1 if stride == 0 else size for size, stride in zip(one.shape, one.stride, strict=True)
        )
        plain = _made(Argument(name=one.name, shape=repeated, dtype=one.dtype))
        strided = f"torch.empty_strided({repeated!r}, {one.stride!r}, dtype=torch.{one.dtype}"
        return f"{strided}, device=DEVICE).copy_({plain}).expand({one.shape!r})"
    if one.dtype.startswith(("float", "bfloat")):
        return f"torch.randn({one.shape!r}, device=DEVICE).to(torch.{one.dtype})"
    return f"torch.zeros({one.shape!r}, dtype=torch.{one.dtype}, device=DEVICE)"


def _cuda_block(template: Template, match: Match, arguments: tuple[Argument, ...]) -> str:
    written = {match.names[role.name] for role in template.outputs}
    parameters = []
    for one in arguments:
        if one.shape is not None:
            const = "" if one.name in written else "const "
            parameters.append(f"{const}{_C_TYPES[one.dtype]} *{one.name}")
    dims = [f"{size}" for size in _dims(template, match)]
    options = [
        _literal(name, match.options[name]) for name in template.options if name in match.options
    ]
    names = [match.names.get(role.name, "nullptr") for role in template.roles]
    call = f"launch({', '.join([*names, *dims, *options])});"
    return f'extern "C" void solve({", ".join(parameters)})\n{{\n    {call}\n}}\n'


def _dims(template: Template, match: Match) -> list[int]:
    """Sizes in the order in which the dims first appear in the roles."""
    order = dict.fromkeys(
        dim.lstrip("*") for role in template.roles for dim in role.shape if not dim.isdigit()
    )
    return [match.dims[dim] for dim in order]


def _literal(name: str, value: Any) -> str:
    """A C++ literal; a word becomes an enumerator named after its option (``kind_sum``)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"{name}_{value}"
    return f"{value!r}f" if isinstance(value, float) else str(value)
