"""Facts about arguments that hold at a launch, given to the kernel as constants.

``@triton.heuristics`` evaluates them on the host for every call, so that a kernel compiled for
the fact is never used where it does not hold: the guarded fallback is the old code.
"""

from __future__ import annotations

from kbs_backends.rewrites.base import NotApplicableError
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.view import Kernel
from kbs_backends.variants.python_scan import decorator_call


def add_facts(draft: TritonDraft, kernel: Kernel, facts: dict[str, str]) -> None:
    """Give ``kernel`` constants; ``facts`` are their names and conditions over ``args``.

    With the method switched off every fact is False.

    Raises:
        NotApplicableError: The kernel takes ``*args``, so that no parameter can be added.
    """
    view = draft.view
    jit = decorator_call(kernel.node, ("jit",))
    parameters = kernel.node.params
    if jit is None or parameters.kwonly_params or parameters.star_kwarg is not None:
        raise NotApplicableError(f"{kernel.name} takes no further parameter")
    if not parameters.params:
        raise NotApplicableError(f"{kernel.name} has no parameters")
    indent = view.indent(jit)
    entries = [
        f'{indent}        "{name}": lambda args: bool({draft.switch}) and {condition},'
        for name, condition in facts.items()
    ]
    lines = [
        f"{indent}@{view.triton}.heuristics(",
        f"{indent}    {{",
        *entries,
        f"{indent}    }}",
        f"{indent})",
        "",
    ]
    draft.insert(view.line_start(jit), "\n".join(lines))
    added = "".join(f", {name}: {view.tl}.constexpr = False" for name in facts)
    last = parameters.params[-1]
    parts = [last.name, last.annotation and last.annotation.annotation, last.default]
    draft.insert(max(view.tree.span(part)[1] for part in parts if part is not None), added)
