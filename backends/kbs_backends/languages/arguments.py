"""Which arguments a kernel is called with: the task's by name, and dims where it asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kbs_backends.languages.base import Runnable
from kbs_engine.errors import InputError


def arguments_for(
    runnable: Runnable, inputs: Mapping[str, Any], dims: Mapping[str, Any]
) -> dict[str, Any]:
    """What ``runnable`` takes, by name.

    A dim is given only to a kernel that names it and only where no input has the name; a
    parameter with a default may be left out.

    Raises:
        InputError: It takes a name that is neither an input nor a dim, and has no default.
    """
    names = runnable.arguments or tuple(inputs)
    known = {**dims, **inputs}
    missing = [name for name in names if name not in known and name not in runnable.optional]
    if missing:
        given = ", ".join(inputs) or "no inputs"
        more = f", and the dims {', '.join(dims)}" if dims else ""
        raise InputError(
            f"the kernel takes {', '.join(missing)}, which the task does not give "
            f"(it gives {given}{more})",
            remedy="name the inputs of setup(), or dims, as its parameters",
        )
    return {name: known[name] for name in names if name in known}
