"""Outputs that a reference returns and has no buffers for: their names, and buffers for kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kbs_backends.tasks.base import Inputs, OutputSpec
from kbs_backends.tasks.outputs import spec_of
from kbs_engine.errors import InputError

ONE = "out"
"""The name of a single returned tensor; several are ``out0``, ``out1``…"""


def returned_outputs(
    returned: Any, told: Sequence[str], inputs: Mapping[str, Any], where: Path
) -> dict[str, OutputSpec]:
    """Name and form of everything returned; empty where nothing is.

    Names are the keys of a dict, else ``told``, else ``out`` or ``out0``, ``out1``…

    Raises:
        InputError: What is returned is no tensor, its number is not that of ``told``, or a name
            is one of the inputs.
    """
    import torch

    if returned is None:
        return {}
    if isinstance(returned, Mapping):
        named = {str(name): value for name, value in returned.items()}
    else:
        values = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        plain = [ONE] if len(values) == 1 else [f"{ONE}{n}" for n in range(len(values))]
        names = list(told) or plain
        if len(names) != len(values):
            raise InputError(
                f"returns {len(values)} values for {len(names)} outputs", where=str(where),
                remedy="name as many with --outputs as it returns",
            )  # fmt: skip
        named = dict(zip(names, values, strict=True))
    for name, value in named.items():
        if not isinstance(value, torch.Tensor):
            raise InputError(
                f"returns a {type(value).__name__} for output {name}", where=str(where),
                remedy="return tensors",
            )  # fmt: skip
        if name in inputs:
            raise InputError(
                "nothing tells which arguments are outputs: it returns tensors and writes none of "
                f"its inputs, of which {name} is one", where=str(where),
                remedy="name the outputs in setup(), or give --outputs NAME",
            )  # fmt: skip
    return {name: spec_of(value) for name, value in named.items()}


def with_buffers(inputs: Inputs, made: Mapping[str, OutputSpec], device: str) -> Inputs:
    """``inputs`` and an empty contiguous buffer for each returned output."""
    import torch

    buffers = {
        name: torch.empty(spec.shape, dtype=getattr(torch, spec.dtype), device=device)
        for name, spec in made.items()
    }
    return {**inputs, **buffers}
