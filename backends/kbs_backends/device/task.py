"""A task as the owner holds it: the reference, secret inputs, expected values, the layout."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kbs_backends.device.layout import Layout, TensorSpec
from kbs_backends.tasks import OutputSpec, Reference, Tolerance
from kbs_engine.blobs import BlobStore
from kbs_engine.jobs import Task

if TYPE_CHECKING:
    import torch

SLOTS = 2
SLOW_EXPECTATION_S = 0.2
"""A timed call's expected values in fp64 may take this long; slower ones use their own dtype."""


class Values(msgspec.Struct, frozen=True, kw_only=True):
    """The secret of one call. Never leaves the owner but for the inputs themselves."""

    inputs: Any
    """Argument name → tensor or scalar, outputs included."""
    expected: Any
    """Output name → tensor."""
    specs: dict[str, OutputSpec]
    tolerance: Tolerance
    distribution: str = "setup"


class LoadedTask:
    """A reference bound to dims, on one device."""

    def __init__(self, task: Task, blobs: BlobStore, folder: Path, device: str) -> None:
        """Load the reference.

        Raises:
            KbsError: The reference is not usable; says where and why.
        """
        from kbs_backends.tasks import load_reference

        self.task = task
        self.device = device
        self.reference_path = _written(blobs, task.reference_sha256, folder / "ref.py")
        self.setup_path = None
        if task.setup is not None:
            name = Path(task.setup.name).name or "setup.py"
            self.setup_path = _written(blobs, task.setup.sha256, folder / "setup" / name)
        self.reference: Reference = load_reference(
            self.reference_path, task.dims, setup=self.setup_path, outputs=task.outputs,
            ptr_size=task.ptr_size,
        )  # fmt: skip
        self.tolerance = self.reference.tolerance(task.atol, task.rtol, task.permitted)
        if self.tolerance.finer:
            self.tolerance = self.prepared("setup")[1].tolerance
        self.outputs = tuple(self.reference.output_names)
        first = self.reference.make_inputs(secrets.randbits(31), "setup", device)
        self.order = tuple(first)
        self._specs = self.reference.specs(first)
        self.layout = Layout(specs=self._layout(first), slots=SLOTS)
        self._expect_dtype: str | None = "fp64"

    def fresh(self, distribution: str = "setup") -> Values:
        """New secret inputs and what they must give."""
        import time

        import torch

        inputs = self.reference.make_inputs(secrets.randbits(31), distribution, self.device)
        start = time.monotonic()
        expected = self.reference.expected(inputs, self._expect_dtype)
        if self.device != "cpu":
            torch.cuda.synchronize()
        if time.monotonic() - start > SLOW_EXPECTATION_S:
            self._expect_dtype = None
        return self._values(inputs, expected, distribution)

    def prepared(self, distribution: str) -> tuple[Values, Any]:
        """One round of a check; the task's own record of it stands beside."""
        seed = secrets.randbits(31)
        made = self.reference.prepare_round(seed, distribution, self.device, self.tolerance)
        values = Values(
            inputs=made.inputs, expected=made.expected, specs=made.specs,
            tolerance=made.tolerance, distribution=distribution,
        )  # fmt: skip
        return values, made

    def expected_of(self, inputs: Any) -> dict[str, torch.Tensor]:
        """What any inputs must give, in the precision of timed calls."""
        return self.reference.expected(inputs, self._expect_dtype)

    @property
    def read_tensors(self) -> frozenset[str]:
        """Tensor arguments whose values the reference reads."""
        return frozenset(spec.name for spec in self.layout.specs) - set(self.written_outputs)

    @property
    def written_outputs(self) -> tuple[str, ...]:
        """Outputs that may be poisoned: those that the reference does not read."""
        return tuple(name for name in self.outputs if name not in self.reference.reads_outputs)

    @property
    def libraries_permitted(self) -> bool:
        """Whether library operations may do the work: ``libraries = False`` forbids it."""
        return self.reference.libraries_permitted

    @property
    def expected_from(self) -> str:
        """In which precision the expected values of timed calls are computed."""
        return self._expect_dtype or "own dtype"

    def _values(self, inputs: Any, expected: Any, distribution: str) -> Values:
        return Values(
            inputs=inputs, expected=expected, specs=self._specs, tolerance=self.tolerance,
            distribution=distribution,
        )  # fmt: skip

    def _layout(self, inputs: dict[str, Any]) -> tuple[TensorSpec, ...]:
        import torch

        free = self.reference.only_returned
        specs = [
            _spec_of(name, value, any_layout=name in free)
            for name, value in inputs.items()
            if isinstance(value, torch.Tensor)
        ]
        known = {spec.name for spec in specs}
        specs += [_spec_from(name, spec) for name, spec in self._specs.items() if name not in known]
        return tuple(specs)


def _spec_of(name: str, tensor: torch.Tensor, *, any_layout: bool) -> TensorSpec:
    return TensorSpec(
        name=name, shape=tuple(tensor.shape), stride=tuple(tensor.stride()),
        dtype=str(tensor.dtype).removeprefix("torch."), item_bytes=tensor.element_size(),
        any_layout=any_layout,
    )  # fmt: skip


def _spec_from(name: str, spec: OutputSpec) -> TensorSpec:
    import torch

    dtype: torch.dtype = getattr(torch, spec.dtype)
    return TensorSpec(
        name=name, shape=spec.shape, stride=spec.stride, dtype=spec.dtype,
        item_bytes=dtype.itemsize,
    )  # fmt: skip


def _written(blobs: BlobStore, sha256: str, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(blobs.get(sha256))
    return path
