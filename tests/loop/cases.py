"""The host runs that are recorded once and replayed in CI: kernels, options, what they show."""

from __future__ import annotations

from pathlib import Path

import msgspec

HERE = Path(__file__).parent
KERNELS = HERE / "kernels"
RECORDINGS = HERE / "recordings"
CREATED = "2026-01-05T10:00:00+00:00"

COMMON = (
    "--language", "triton", "--M=64", "--N=256", "--trials", "20", "--baselines", "pytorch-eager",
)  # fmt: skip


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded run."""

    name: str
    kernel: str
    options: tuple[str, ...]
    shows: str

    @property
    def recording(self) -> Path:
        return RECORDINGS / self.name

    def arguments(self, device: str, output: Path) -> list[str]:
        """Arguments of ``kbs optimize`` or ``kbs loop init`` after the verb."""
        kernel = KERNELS / self.kernel / "kernel.py"
        return [
            str(kernel), "--ref", str(KERNELS / "ref.py"), *COMMON, *self.options,
            "--device", device, "--output", str(output),
        ]  # fmt: skip


CASES = {
    case.name: case
    for case in (
        Case(name="faster", kernel="softmax_host", options=("-n", "2", "--templates", "off"),
             shows="a run that finds a faster version"),
        Case(name="no_better", kernel="plain_host", options=("-n", "2"),
             shows="an honest no better found"),
        Case(name="all_wrong", kernel="wrong_host", options=("-n", "3", "--slots", "1"),
             shows="one-change mode; every branch of an iteration is wrong"),
        Case(name="agent", kernel="agent_host", options=("-n", "1", "--proposer", "agent"),
             shows="one iteration written by somebody, the first try wrong"),
    )
}  # fmt: skip
