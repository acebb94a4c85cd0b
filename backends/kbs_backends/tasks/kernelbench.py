"""KernelBench problem files: ``Model``, ``get_inputs``, ``get_init_inputs``.

The kernel contract stays the same: forward's arguments, parameters and buffers become inputs
by name (dots as underscores), and outputs are ``out`` or ``out0``, ``out1``…. Module constants
are the dims.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from kbs_backends.languages.python_kernel import Dims
from kbs_backends.languages.user_code import failures_by_line
from kbs_backends.tasks.base import Inputs
from kbs_engine.errors import InputError

_NEEDED = ("get_inputs", "get_init_inputs")


class KernelBenchComputation:
    """One problem; its model is built anew for other dims."""

    def __init__(self, where: Path, module: ModuleType) -> None:
        """Check the functions.

        Raises:
            InputError: ``get_inputs`` or ``get_init_inputs`` is missing.
        """
        for name in _NEEDED:
            if not callable(getattr(module, name, None)):
                raise InputError(
                    f"defines Model but no {name}", where=str(where),
                    remedy=f"add def {name}(), which returns a list",
                )  # fmt: skip
        self.where = where
        self._module = module
        self._model: Any = None

    @property
    def setup(self) -> Callable[[Dims, int], tuple[Inputs, tuple[str, ...]]]:
        """Inputs of forward, weights, and output buffers."""
        return self._setup

    def declared(self, name: str) -> Any:
        """A module-level value; KernelBench files have no setup() of ours."""
        return None if name == "setup" else getattr(self._module, name, None)

    def function(self, baseline: str = "") -> Callable[..., Any]:
        """``forward`` with the weights that are passed."""
        if baseline:
            raise InputError(
                f"has no {baseline} baseline", where=str(self.where),
                remedy="compare with pytorch-eager or torch-compile",
            )  # fmt: skip
        return self._forward

    def _setup(self, dims: Dims, seed: int) -> tuple[Inputs, tuple[str, ...]]:
        import torch

        self._apply(dims)
        torch.manual_seed(seed)
        with failures_by_line(self.where, "get_inputs or Model fails"):
            self._model = self._module.Model(*self._module.get_init_inputs())
            positional = self._module.get_inputs()
        values = [v for v in positional if isinstance(v, torch.Tensor)]
        device = values[0].device if values else torch.device("cpu")
        self._model = self._model.to(device).eval()
        inputs: Inputs = dict(zip(self._names(len(positional)), positional, strict=True))
        for name, value in self._state().items():
            if _plain(name) in inputs:
                raise InputError(
                    f"the name {_plain(name)} is both that of the parameter {name} and that of "
                    "another argument", where=str(self.where),
                    remedy="rename one of them: both would be one argument of the kernel",
                )  # fmt: skip
            inputs[_plain(name)] = value.detach()
        with torch.no_grad():
            made = self._forward(**inputs)
        outputs = made if isinstance(made, (tuple, list)) else (made,)
        for value in outputs:
            if not isinstance(value, torch.Tensor):
                raise InputError(
                    f"forward returns a {type(value).__name__} among its outputs",
                    where=str(self.where), remedy="return a tensor, or a flat tuple of tensors",
                )  # fmt: skip
        names = ("out",) if len(outputs) == 1 else tuple(f"out{n}" for n in range(len(outputs)))
        inputs.update({n: torch.empty_like(v) for n, v in zip(names, outputs, strict=True)})
        return inputs, names

    def _forward(self, **inputs: Any) -> Any:
        import torch

        state = {name: inputs[_plain(name)] for name in self._state()}
        names = self._names(None)
        arguments = tuple(inputs[name] for name in names if name in inputs)
        with torch.no_grad():
            return torch.func.functional_call(self._model, state, arguments)

    def _state(self) -> Mapping[str, Any]:
        return {**dict(self._model.named_parameters()), **dict(self._model.named_buffers())}

    def _names(self, count: int | None) -> tuple[str, ...]:
        parameters = list(inspect.signature(self._module.Model.forward).parameters)[1:]
        if count is not None and count > len(parameters):
            raise InputError(
                f"get_inputs gives {count} values, forward takes {len(parameters)}",
                where=str(self.where), remedy="make them agree",
            )  # fmt: skip
        return tuple(parameters if count is None else parameters[:count])

    def _apply(self, dims: Dims) -> None:
        """Dims replace module constants of the same name."""
        for name, value in dims.items():
            if not isinstance(getattr(self._module, name, None), (int, float, str, bool)):
                known = [n for n, v in vars(self._module).items()
                         if isinstance(v, (int, float)) and not n.startswith("_")]  # fmt: skip
                raise InputError(
                    f"wrong dims: {name} is no constant of the problem", where=str(self.where),
                    remedy=f"give one of {', '.join(known) or '(none)'}",
                )  # fmt: skip
            setattr(self._module, name, value)


def _plain(name: str) -> str:
    return name.replace(".", "_")
