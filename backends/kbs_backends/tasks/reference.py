"""A reference bound to its dims: inputs, expectations, tolerance and work."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbs_backends.languages.placement import on_device, without_gpu
from kbs_backends.languages.python_kernel import Dims, check_outputs
from kbs_backends.tasks import outputs as results
from kbs_backends.tasks import returned as results_made
from kbs_backends.tasks.arguments import no_overlaps, only_sendable
from kbs_backends.tasks.base import Inputs, OutputSpec, PreparedRound, Tolerance
from kbs_backends.tasks.baseline_setup import setup_of_kernel
from kbs_backends.tasks.comparing import compare
from kbs_backends.tasks.computation import (
    Computation,
    Setup,
    load_computation,
    run_user,
    takes_no_buffers,
)
from kbs_backends.tasks.copies import as_buffer, copies
from kbs_backends.tasks.counting import counted_work, torch_flops
from kbs_backends.tasks.distributions import DISTRIBUTIONS, redraw, slack
from kbs_backends.tasks.domains import check_names, read_domains, valid_only_as_drawn
from kbs_backends.tasks.families import declared_family, operations_of, seen_family
from kbs_backends.tasks.own_meaning import OwnMeaning
from kbs_backends.tasks.read_back import read_back
from kbs_backends.tasks.tolerance import (
    HEADROOM,
    chosen,
    derive,
    reached,
    reduction_length,
    times,
)
from kbs_backends.tasks.unwritten import (
    all_written,
    fresh_memory,
    left_alone,
)
from kbs_engine.errors import InputError, MeasurementError, UsageError
from kbs_engine.results import Counted
from kbs_engine.vocabulary import Dtype, Family

if TYPE_CHECKING:
    import torch

FP64 = "fp64"


def load_reference(
    path: Path,
    dims: Dims | None = None,
    *,
    setup: Path | None = None,
    outputs: Sequence[str] = (),
    ptr_size: int | None = None,
) -> BoundReference:
    """Load a ``ref.py`` or a KernelBench problem. Executes the file.

    Args:
        path: The reference.
        dims: Dims for its setup().
        setup: The pinned baseline kernel, whose setup() or ``solve`` gives the inputs where the
            reference has no setup().
        outputs: Output names where nothing else tells them.
        ptr_size: Elements of each pointer of ``solve`` where nothing else tells.

    Raises:
        InputError: It does not define what it must; the message says what to add.
    """
    computation = load_computation(path)
    source = computation.setup
    if source is None:
        if setup is None:
            raise InputError(
                "has no setup(), and no baseline kernel gives the inputs", where=str(path),
                remedy='add def setup(**dims): return {"inputs": {...}, "outputs": [...]}',
            )  # fmt: skip
        source = setup_of_kernel(setup, ptr_size)
    return BoundReference(computation, source, dict(dims or {}), tuple(outputs))


class BoundReference:
    """See ``kbs_backends.tasks.base.Reference``."""

    def __init__(
        self, computation: Computation, setup: Setup, dims: Dims, outputs: Sequence[str]
    ) -> None:
        """Use ``load_reference``."""
        self.dims: Dims = dims
        self.where = computation.where
        self._computation = computation
        self._setup = setup
        self._told = tuple(outputs)
        self._reads: tuple[str, ...] | None = None
        self._made: dict[str, OutputSpec] = {}
        self._declared: tuple[str, ...] = ()
        self._draws_on_gpu = True
        self._meaning = OwnMeaning()

    def with_dims(self, dims: Dims) -> BoundReference:
        """The same computation bound to other dims."""
        return BoundReference(self._computation, self._setup, dict(dims), self._told)

    @cached_property
    def output_names(self) -> tuple[str, ...]:
        """By setup(), else what the reference is seen to write, else as told or returned.

        Where setup() was called already and declares them, nothing is traced: tracing imports
        much, for seconds in a fresh process.
        """
        if self._declared:
            return self._declared
        try:
            with without_gpu(fake=True):
                return self._found_outputs()
        except (InputError, MeasurementError):
            with without_gpu():  # setup() or the reference needs values, or truly fails
                return self._found_outputs()

    def _found_outputs(self) -> tuple[str, ...]:
        inputs, declared = self._setup(self.dims, 0)
        if declared:
            return declared
        seen, returned = results.seen_outputs(self._computation.function(), inputs, self.where)
        if seen:
            return seen
        if self._told and all(name in inputs for name in self._told):
            check_outputs(self._told, inputs, str(self.where))
            return self._told
        self._made = results_made.returned_outputs(returned, self._told, inputs, self.where)
        if not self._made:
            raise InputError(
                "nothing tells which arguments are outputs", where=str(self.where),
                remedy="name them in setup(), write them in place, return them, or give "
                "--outputs NAME",
            )  # fmt: skip
        return tuple(self._made)

    @property
    def only_returned(self) -> tuple[str, ...]:
        """Outputs that it returns and does not take as arguments."""
        return tuple(name for name in self.output_names if name in self._made)

    @property
    def reads_outputs(self) -> tuple[str, ...]:
        """Outputs that are inputs too; known once a round was prepared."""
        return self._reads or ()

    @property
    def libraries_permitted(self) -> bool:
        """Whether a kernel may leave the work to libraries; ``libraries = False`` forbids it.

        Raises:
            InputError: ``libraries`` is neither True nor False.
        """
        declared = self._computation.declared("libraries")
        if declared not in (None, True, False):
            raise InputError(
                f"libraries is {declared!r}", where=str(self.where),
                remedy="write libraries = False where a kernel must do the work itself",
            )  # fmt: skip
        return bool(declared is not False)

    @cached_property
    def family(self) -> Family:
        """Declared ``family``, else seen."""
        declared = declared_family(self._computation.declared("family"), str(self.where))
        if declared is not None:
            return declared
        with self._outline() as inputs:
            try:
                operations = operations_of(self.where, self.function(), inputs)
            except (InputError, MeasurementError):
                return "other"  # what needs values cannot be watched on shapes alone
        return seen_family(operations)

    def function(self, baseline: str = "") -> Callable[..., Any]:
        """What computes it, to be called with every input by name."""
        return takes_no_buffers(self._computation.function(baseline), self.only_returned)

    def make_inputs(self, seed: int, distribution: str = "setup", device: str = "cpu") -> Inputs:
        """Fresh arguments on ``device``."""
        import torch

        if distribution not in DISTRIBUTIONS:
            raise UsageError(
                f"no distribution {distribution!r}", remedy=f"one of {', '.join(DISTRIBUTIONS)}"
            )
        with on_device(device):
            inputs = self._drawn_there(seed, device)
        outputs = self.output_names
        only_sendable(inputs, self.where)
        check_names(self.domains, inputs, self.where)
        no_overlaps(inputs, outputs, self.where)
        placed = {
            name: value.to(device)
            if isinstance(value, torch.Tensor) and value.device.type != torch.device(device).type
            else value
            for name, value in inputs.items()
        }
        written = [name for name in outputs if name not in self.reads_outputs]
        return redraw(placed, written, distribution, seed, self.domains)

    @property
    def domains(self) -> Mapping[str, tuple[float, float]]:
        """Where values of inputs lie, as the file declares it."""
        return read_domains(self._computation.declared("domains"), self.where)

    def expected(self, inputs: Inputs, dtype: str | None = FP64) -> dict[str, torch.Tensor]:
        """What the outputs must hold, computed on copies."""
        found = self._run_wide(inputs) if dtype == FP64 else self._run(copies(inputs, wide=False))
        if dtype is None:
            results.same_dtypes(found, inputs, self.where)
        results.no_nan(found, self.where, "these")
        return found

    def eager(self, inputs: Inputs, *, baseline: str = "") -> dict[str, torch.Tensor]:
        """The reference on ``inputs`` themselves."""
        found = self._run(inputs, baseline)
        results.same_dtypes(found, inputs, self.where)
        return found

    def specs(self, inputs: Inputs) -> dict[str, OutputSpec]:
        """What every output must be, by its buffer."""
        return {name: results.spec_of(inputs[name]) for name in self.output_names}

    def tolerance(
        self,
        atol: float | None = None,
        rtol: float | None = None,
        permitted: Sequence[str] = (),
    ) -> Tolerance:
        """Command line, else ref.py, else derived."""
        declared = {name: self._computation.declared(name) for name in ("atol", "rtol")}
        given = {"atol": atol, "rtol": rtol}
        return chosen(given, declared, self._derived(tuple(permitted)), str(self.where))

    def prepare_round(
        self, seed: int, distribution: str, device: str, tolerance: Tolerance
    ) -> PreparedRound:
        """Inputs, expectation, eager error; see ``PreparedRound``."""
        inputs = self.make_inputs(seed, distribution, device)
        specs = self.specs(inputs)
        results.not_empty(specs, self.where)
        with valid_only_as_drawn(distribution):
            own = self._run_own(inputs)
        results.same_dtypes(own, inputs, self.where)
        if self._reads is None:  # first: what nobody has written may well hold NaN
            self._reads = self._read_back(inputs, device)
        results.no_nan(own, self.where, distribution)
        expected, source = self._wide_or_own(inputs, own, distribution)
        buffers = {n: as_buffer(v, inputs[n]) for n, v in own.items()}
        tolerance = reached(buffers, expected, specs, tolerance)
        eager = compare(buffers, expected, specs, times(tolerance, HEADROOM))
        tolerance = times(tolerance, slack(distribution))
        return PreparedRound(
            distribution=distribution, inputs=inputs, expected=expected, expected_from=source,
            specs=specs, tolerance=tolerance, eager_max_abs_err=eager.max_abs_err,
            usable=eager.ok,
            why_not="" if eager.ok else f"eager itself misses half the tolerance: {eager.detail}",
        )  # fmt: skip

    def work(self, permitted: Sequence[Dtype] = ()) -> Counted:
        """FLOPs and compulsory bytes."""
        with self._outline() as inputs:
            return counted_work(
                self._computation,
                self.dims,
                inputs,
                self.output_names,
                family=self.family,
                flops=self._torch_flops,
                permitted=permitted,
            )

    @cached_property
    def _torch_flops(self) -> float | None:
        with self._outline() as inputs:
            try:
                return torch_flops(self.where, self.function(), inputs)
            except (InputError, MeasurementError):
                return None  # what needs values cannot be counted on shapes alone

    def _derived(self, permitted: tuple[str, ...]) -> Tolerance:
        outputs = self.output_names
        with self._outline() as inputs:
            dtypes = {n: str(inputs[n].dtype).removeprefix("torch.") for n in outputs}
            return derive(dtypes, reduction_length(inputs, outputs, self._torch_flops), permitted)

    def _run(self, inputs: Inputs, baseline: str = "") -> dict[str, torch.Tensor]:
        import torch

        device = next((v.device.type for v in inputs.values() if hasattr(v, "data_ptr")), "cpu")
        with torch.no_grad(), on_device(device):
            returned = run_user(self.where, self.function(baseline), inputs)
        return results.collect(returned, inputs, self.output_names, self.where)

    def _run_own(self, inputs: Inputs) -> dict[str, torch.Tensor]:
        """On copies in its own types; the first time it is watched for what it means by them."""
        if self._meaning.known:
            return self._run(copies(inputs, wide=False))
        with self._meaning.watched():
            return self._run(copies(inputs, wide=False))

    def _run_wide(self, inputs: Inputs) -> dict[str, torch.Tensor]:
        """On copies in fp64, with the constants that it has in its own types."""
        if not self._meaning.known:
            try:
                self._run_own(inputs)
            except (InputError, MeasurementError):
                self._meaning.nothing()  # it cannot be run in them here: then fp64 is all there is
        with self._meaning.kept():
            return self._run(copies(inputs, wide=True))

    def _wide_or_own(
        self, inputs: Inputs, own: Mapping[str, Any], distribution: str
    ) -> tuple[dict[str, Any], str]:
        """The fp64 expectation where the reference can be run in it."""
        try:
            wide = self._run_wide(inputs)
        except (InputError, MeasurementError):
            return dict(own), "own dtype"
        results.no_nan(wide, self.where, distribution)
        return wide, FP64

    def _read_back(self, inputs: Inputs, device: str) -> tuple[str, ...]:
        """Outputs that it reads.

        Raises:
            InputError: Nothing stood there, and elements are left as they were.
        """
        found = read_back(self.output_names, inputs, self._run)
        for name, alone in found.items():
            self._every_element(name, alone, device)
        return tuple(found)

    def _every_element(self, name: str, alone: Any, device: str) -> None:
        """InputError where what is left alone is memory that setup() has not written."""
        if bool(alone.any()):
            drawn = []
            for value in (0, 1):
                with fresh_memory(value):
                    drawn.append(self.make_inputs(0, "setup", device)[name])
            all_written(name, alone & left_alone(*drawn), self.where)

    def _drawn_there(self, seed: int, device: str) -> Inputs:
        """``_drawn``, where what setup() makes on no device in particular is made on a GPU.

        One core takes 0.4 s to draw 16 million normal values, a GPU less than a millisecond, and
        fresh values are drawn for every timed call. A setup() that must have CPU tensors, for
        numpy say, keeps them.
        """
        import torch

        if device.startswith("cuda") and self._draws_on_gpu:
            try:
                torch.manual_seed(seed)
                with torch.device(device):
                    return self._drawn(seed, device)
            except (InputError, MeasurementError):
                self._draws_on_gpu = False
        torch.manual_seed(seed)
        return self._drawn(seed, device)

    def _drawn(self, seed: int, device: str = "cpu") -> Inputs:
        """Arguments as setup() gives them, with buffers for what is only returned."""
        inputs, self._declared = self._setup(self.dims, seed)
        _ = self.output_names
        return results_made.with_buffers(inputs, self._made, device) if self._made else inputs

    @contextlib.contextmanager
    def _outline(self) -> Iterator[Inputs]:
        """Arguments as shapes alone; with values where setup() needs them."""
        _ = self.output_names
        with contextlib.ExitStack() as stack:
            try:
                with without_gpu(fake=True):
                    inputs = self._drawn(0)
                stack.enter_context(without_gpu(fake=True))
            except (InputError, MeasurementError):
                stack.enter_context(without_gpu())
                inputs = self._drawn(0)
            yield inputs
