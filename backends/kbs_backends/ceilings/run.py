"""Ceilings measured in a process of its own, so that a broken driver costs nobody else."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any, Final

from kbs_backends.run_tool import run_tool
from kbs_engine.errors import MeasurementError, UsageError
from kbs_engine.results import Ceilings

DTYPES: Final = ("fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "int8", "fp64")
TIMEOUT_S: Final = 300.0


def record_ceilings(
    *,
    dtypes: Sequence[str] = (),
    gpu: int = 0,
    buffer_mib: int = 1024,
    command: str = "kbs ceiling",
) -> dict[str, Any]:
    """Everything that was measured, as written to a page: samples, states of the card, versions.

    Args:
        dtypes: of the matrix products; empty for all.
        gpu: index of the card, as CUDA counts those that are visible.
        buffer_mib: size of one DRAM buffer.
        command: what repeats the measurement, for the page.

    Raises:
        UsageError: a data type that has no product here.
        MeasurementError: no usable GPU, or the process died; its last words are in the message.
    """
    unknown = [name for name in dtypes if name not in DTYPES]
    if unknown:
        raise UsageError(
            f"no matrix product is measured in {', '.join(unknown)}",
            remedy=f"choose from {', '.join(DTYPES)}",
        )
    from kbs_backends.device.gpus import by_bus, gpu_count, visible_as

    if gpu >= gpu_count():
        raise MeasurementError(
            f"there is no NVIDIA GPU {gpu} here: ceilings cannot be measured",
            remedy="run it on a machine with a GPU and its driver (`kbs doctor` tells what is "
            "missing), or give --from a recording",
        )
    card = visible_as(gpu)
    argv = [
        sys.executable, "-m", "kbs_backends.ceilings", "--dtypes", ",".join(dtypes or DTYPES),
        "--buffer-mib", str(buffer_mib), "--gpu", card, "--command", command,
    ]  # fmt: skip
    environment = {
        **by_bus(os.environ),
        "CUDA_VISIBLE_DEVICES": card,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    run = run_tool(argv, timeout_s=TIMEOUT_S, env=environment)
    lines = run.stdout.strip().splitlines()
    if not run.ok or not lines:
        raise MeasurementError(
            f"ceilings could not be measured: {run.why()}",
            where=f"GPU {gpu}",
            remedy="run `kbs doctor`; ceilings need an NVIDIA GPU, torch with CUDA, and triton",
        )
    record: dict[str, Any] = json.loads(lines[-1])
    return record


def measure(dtypes: Sequence[str] = (), *, gpu: int = 0) -> Ceilings:
    """The answer of a Ceiling job."""
    from kbs_backends.ceilings.page import answer

    return answer(record_ceilings(dtypes=dtypes, gpu=gpu))
