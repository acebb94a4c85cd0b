"""What a reference means by constants that follow from a data type, kept where it runs in fp64.

``rms_norm(x, shape, eps=None)`` adds the machine epsilon of the type that it computes in, and
``torch.finfo(x.dtype).eps`` is another number for fp64 inputs. What is asked for in a run in the
reference's own types is remembered in order, and answered the same way in fp64.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final
from unittest import mock

from kbs_backends.languages.placement import ONE_AT_A_TIME
from kbs_backends.tasks.tolerance import ROUND_OFF

_PROBE: Final = 2.0**-13
"""So small that its square is below the epsilons, and a normal number of fp16."""
_EPS_PLACE: Final = 3
"""Of ``eps`` among the arguments of ``rms_norm``."""

_Answer = Callable[[str, Any], Any]
"""Kind of a question and what it asks about, to the answer; None: as torch answers it."""


class OwnMeaning:
    """What one reference asked for, once it was watched."""

    def __init__(self) -> None:
        """Not watched yet."""
        self._told: list[tuple[str, Any]] | None = None

    @property
    def known(self) -> bool:
        """Whether a run in its own types was watched."""
        return self._told is not None

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Remember what a run in the reference's own types asks for."""
        told: list[tuple[str, Any]] = []

        def note(kind: str, about: Any) -> Any:
            told.append((kind, implied_epsilon(about) if kind == "rms_norm" else about))

        with _asking(note):
            yield
        self._told = told

    def nothing(self) -> None:
        """It cannot be run in its own types: keep nothing."""
        self._told = []

    def kept(self) -> contextlib.AbstractContextManager[None]:
        """For a run in fp64: fp64's own constants become those that were told."""
        import torch

        if not self._told:
            return contextlib.nullcontext()
        answers = iter(self._told)

        def answer(kind: str, about: Any) -> Any:
            told, value = next(answers, ("", None))
            dtype = about if kind == "finfo" else about.dtype
            return value if told == kind and dtype == torch.float64 else None

        return _asking(answer)


def implied_epsilon(like: Any) -> float:
    """What ``rms_norm`` adds for tensors of the type and on the device of ``like``.

    Half types are computed in fp32, and which epsilon that gives is not documented: it is seen.
    """
    import torch

    x = torch.full((1, 8), _PROBE, dtype=like.dtype, device=like.device)
    out = torch.nn.functional.rms_norm(x, (8,)).double()[0, 0].item()
    seen = max((_PROBE / out) ** 2 - _PROBE**2, 1e-300)
    own = str(like.dtype).removeprefix("torch.")
    known = {ROUND_OFF[dtype] for dtype in (own, "float32") if dtype in ROUND_OFF}
    return float(min(known, key=lambda eps: abs(math.log(seen / eps))))


@contextlib.contextmanager
def _asking(answer: _Answer) -> Iterator[None]:
    """Questions of this thread go to ``answer`` first."""
    import torch

    with ONE_AT_A_TIME, _mode(answer), mock.patch.object(torch, "finfo", _finfo(answer)):
        yield


def _mode(answer: _Answer) -> Any:
    import torch
    from torch.nn import functional
    from torch.overrides import TorchFunctionMode

    class Asking(TorchFunctionMode):
        """Sees calls of ``rms_norm`` that name no epsilon."""

        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = dict(kwargs or {})
            if function in (functional.rms_norm, torch.rms_norm):
                named = args[_EPS_PLACE] if len(args) > _EPS_PLACE else kwargs.get("eps")
                about = args[0] if args else kwargs["input"]
                eps = answer("rms_norm", about) if named is None else None
                if eps is not None:
                    args, kwargs = args[:_EPS_PLACE], {**kwargs, "eps": eps}
            return function(*args, **kwargs)

    return Asking()


def _finfo(answer: _Answer) -> Any:
    """Stands in for ``torch.finfo`` in this thread."""
    import torch

    real, here = torch.finfo, threading.get_ident()

    class Kind(type):
        """Its instances are those of the real one."""

        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, real)

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != here:
                return real(*args, **kwargs)
            asked = args[0] if args else kwargs.get("type", torch.get_default_dtype())
            return real(answer("finfo", asked) or asked)

    return Kind("finfo", (), {})
