"""The manifest: what every attack is, how it must end, and which defence it proves."""

from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

FOLDER = Path(__file__).resolve().parent
KERNELS, TWINS, TASKS = FOLDER / "kernels", FOLDER / "twins", FOLDER / "tasks"
FAMILIES = {
    "T": "Timing", "R": "Result reuse", "M": "Memory", "S": "Semantics", "P": "Partial writes",
    "B": "Bypass and provenance", "X": "Isolation",
}  # fmt: skip

WRONG = (
    "wrong_result", "missing_output", "stale_output", "cached_output", "unwritten_elements",
    "nonfinite", "wrong_timed_output",
)  # fmt: skip
"""A wrong output is one of these; which, depends on the poison that the owner drew."""


class Attack(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row of manifest.yaml."""

    id: str
    level: Literal["P", "N", "H"]
    where: Literal["host", "cuda", "engine"]
    what: str
    file: str = ""
    case: str = ""
    """A function of cases.py, for what no kernel can do."""
    test: str = ""
    """A test elsewhere that carries this attack out."""
    task: str = "silu_bias"
    dims: dict[str, Any] = {}
    job: Literal["both", "check", "time"] = "both"
    expect: tuple[str, ...] = ()
    honest: bool = False
    honest_on_cuda: bool = False
    """It meddles with the host device's clock: on a GPU that clock is not asked."""
    without: str = ""
    naive: str = ""
    twin: tuple[str, ...] = ()
    tight: bool = False
    cold_ms: float | None = None
    failure: bool = False
    """The job itself may be refused: the task is no task."""
    sanitize: bool = False
    """A compute-sanitizer pass is part of its run."""
    beside: str = ""
    """The honest twin that it is timed beside; default: the plain Python one."""
    between_us: tuple[float, float] | None = None
    """The median time that a kernel of known duration must be measured at."""

    @property
    def path(self) -> Path:
        """Its kernel."""
        return kernel(KERNELS, self.file)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes that may refuse it."""
        plain = tuple(code for code in self.expect if code != "any_wrong")
        return (*WRONG, *plain) if len(plain) < len(self.expect) else plain

    @property
    def language(self) -> str:
        """Language of its kernel; a .py kernel follows the contract of the Python languages."""
        return "cuda-cpp" if self.path.suffix == ".cu" else "triton"


def kernel(folder: Path, stem: str) -> Path:
    """The file of this stem, whatever its language."""
    native = folder / f"{stem}.cu"
    return native if native.exists() else folder / f"{stem}.py"


def attacks(*where: str) -> tuple[Attack, ...]:
    """All attacks, or those of some places, in the order of the manifest."""
    return tuple(attack for attack in _manifest() if not where or attack.where in where)


@cache
def _manifest() -> tuple[Attack, ...]:
    rows = yaml.safe_load((FOLDER / "manifest.yaml").read_text(encoding="utf-8"))
    return tuple(msgspec.convert(row, Attack) for row in rows)


TWIN_TASKS = {
    "softmax_subtracts_the_maximum": "softmax", "matmul_fp32": "matmul",
    "order_of_sums_varies": "matmul", "writes_every_zero": "lower_half_zero",
    "adds_the_small_bias": "small_bias", "copy_streaming": "large_copy",
    "accumulates_by_index": "accumulate", "own_kernel_that_returns": "silu_bias_own",
    "own_kernel_with_workspace": "silu_bias_own",
}  # fmt: skip
SMALL_DIMS = {"triton_silu_bias": {"rows": 4, "cols": 64}}
"""Twins that run in an interpreter on the host."""


def twins() -> tuple[str, ...]:
    """All honest twins that run without a GPU."""
    return tuple(sorted(path.stem for path in TWINS.glob("*.py") if not needs_gpu(path)))


def needs_gpu(path: Path) -> bool:
    """Whether a kernel cannot run on the host."""
    return path.suffix == ".cu" or "torch.cuda." in path.read_text(encoding="utf-8")
