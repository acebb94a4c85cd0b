"""Records of a task: what is right, how close is close, what a comparison found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from kbs_engine.results import Counted
from kbs_engine.vocabulary import Dtype, Family

if TYPE_CHECKING:
    import torch

Inputs = dict[str, Any]
"""Every argument by name, outputs included: tensors and scalars, in the order of ``setup``."""


class Tolerance(msgspec.Struct, frozen=True, kw_only=True):
    """Close enough is ``|actual - expected| <= atol + rtol * |expected|`` for every element."""

    atol: float
    rtol: float
    source: str
    """``command line``, ``reference`` or ``derived from fp16, reduction of 4096``."""
    derived: bool = False
    """True: ``atol`` is in units of the root mean square of each output."""
    finer: dict[str, float] = msgspec.field(default_factory=dict)
    """By name, outputs of a finer type than the coarsest, and which share of it all they get."""

    def of(self, output: str) -> Tolerance:
        """What counts for one output."""
        share = self.finer.get(output, 1.0)
        return msgspec.structs.replace(
            self, atol=share * self.atol, rtol=share * self.rtol, finer={}
        )

    def without(self, outputs: Collection[str]) -> Tolerance:
        """The same, where these outputs get no less than the coarsest."""
        finer = {name: share for name, share in self.finer.items() if name not in outputs}
        return msgspec.structs.replace(self, finer=finer)


class OutputSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What an output must be, to the letter."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str
    """As torch writes it, without ``torch.``: ``float16``."""
    device: str
    """Device type: ``cpu``, ``cuda``."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison of all outputs found. ``fault`` names the first reason to fail."""

    ok: bool
    compared_elements: int
    max_abs_err: float | None = None
    max_rel_err: float | None = None
    output: str = ""
    """The output with the largest error, or with the fault."""
    fault: str = ""
    """``""``, ``values``, ``shape``, ``stride``, ``dtype``, ``device``, ``missing``,
    ``type``, ``not_finite`` or ``nothing_compared``."""
    detail: str = ""


class PreparedRound(msgspec.Struct, frozen=True, kw_only=True):
    """One round of a check, made by the process that owns the secrets.

    ``inputs`` go to the candidate with their outputs poisoned; the rest stays here.
    """

    distribution: str
    inputs: Any
    """``Inputs``."""
    expected: Any
    """Output name → tensor, fp64 where the reference could be run in it."""
    expected_from: str
    """``fp64`` or ``own dtype``."""
    specs: dict[str, OutputSpec]
    tolerance: Tolerance
    eager_max_abs_err: float | None = None
    """Error of the eager reference in the kernel's own dtype."""
    usable: bool = True
    """False where the eager reference itself misses the tolerance on these values: then
    nobody can be judged by this round, and it does not count."""
    why_not: str = ""


class Reference(Protocol):
    """What has to be computed, bound to dims (``load_reference`` makes one).

    The object holds the reference's code and no secret. Tensors live on the device asked for.
    """

    @property
    def dims(self) -> Mapping[str, int | float | str | bool]:
        """The dims that it was loaded with."""
        ...

    @property
    def where(self) -> Path:
        """The file."""
        ...

    @property
    def only_returned(self) -> tuple[str, ...]:
        """Outputs that it returns and does not take as arguments."""
        ...

    @property
    def domains(self) -> Mapping[str, tuple[float, float]]:
        """Where values of inputs lie, by name, as the reference declares it."""
        ...

    @property
    def reads_outputs(self) -> tuple[str, ...]:
        """Outputs whose old content the reference reads (``c += a @ b``): never poison them."""
        ...

    @property
    def libraries_permitted(self) -> bool:
        """Whether a kernel may leave the work to libraries; ``libraries = False`` forbids it."""
        ...

    @property
    def family(self) -> Family:
        """Declared ``family``, else seen from what the reference computes."""
        ...

    @property
    def output_names(self) -> tuple[str, ...]:
        """Outputs by setup(), else what the reference is seen to write, else declared."""
        ...

    def with_dims(self, dims: Mapping[str, int | float | str | bool]) -> Reference:
        """The same computation bound to other dims."""
        ...

    def make_inputs(self, seed: int, distribution: str = "setup", device: str = "cpu") -> Inputs:
        """Fresh arguments with the values of a distribution of ``DISTRIBUTIONS``.

        ``setup`` keeps what setup() drew; the others redraw floating inputs in their domain.
        """
        ...

    def expected(self, inputs: Inputs, dtype: str | None = "fp64") -> dict[str, torch.Tensor]:
        """What the outputs must hold, on copies of ``inputs``; dtype None: own dtype.

        Raises:
            InputError: The reference fails, gives NaN, or other outputs than it declared.
        """
        ...

    def eager(self, inputs: Inputs, *, baseline: str = "") -> dict[str, torch.Tensor]:
        """The reference in its own dtype on ``inputs`` themselves (in-place outputs land)."""
        ...

    def function(self, baseline: str = "") -> Callable[..., Any]:
        """What computes it, to be called with every input by name (for timing baselines)."""
        ...

    def specs(self, inputs: Inputs) -> dict[str, OutputSpec]:
        """What every output must be."""
        ...

    def tolerance(
        self,
        atol: float | None = None,
        rtol: float | None = None,
        permitted: Sequence[str] = (),
    ) -> Tolerance:
        """Command line (the arguments), else ref.py, else derived; declared is never widened.

        ``permitted`` precisions of the arithmetic coarsen a derived one alone.
        """
        ...

    def prepare_round(
        self, seed: int, distribution: str, device: str, tolerance: Tolerance
    ) -> PreparedRound:
        """Inputs, fp64 expectation, eager error and whether the round can judge."""
        ...

    def work(self, permitted: Sequence[Dtype] = ()) -> Counted:
        """FLOPs and compulsory bytes: declared, else counted, else unknown."""
        ...
