"""GPUs are counted as a CUDA program counts them, whatever the driver's library counts."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from kbs_backends.ceilings import run as ceilings
from kbs_backends.device import gpus
from kbs_backends.device.environ import child_environment
from kbs_backends.device.gpus import (
    by_bus,
    choose_kind,
    gpu_count,
    gpu_name,
    gpu_uuid,
    visible_as,
)
from kbs_backends.run_tool import ToolRun
from kbs_engine.errors import MeasurementError

CARDS = {
    "GPU-aaaa-1": "NVIDIA H200",
    "GPU-aabb-2": "NVIDIA A100-SXM4-80GB",
    "GPU-cccc-3": "NVIDIA L4",
}
PARTS = {"MIG-1234": "NVIDIA H200 MIG 1g.18gb"}


class DriverError(Exception):
    """What the faked library raises."""


def driver(broken: bool = False) -> ModuleType:
    """A management library of three cards, one of them in parts."""
    library = ModuleType("pynvml")

    def begin() -> None:
        if broken:
            raise DriverError

    def by_uuid(uuid: bytes) -> str:
        if uuid.decode() not in PARTS:
            raise DriverError
        return uuid.decode()

    functions = {
        "NVMLError": DriverError,
        "nvmlInit": begin,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: len(CARDS),
        "nvmlDeviceGetHandleByIndex": lambda index: list(CARDS)[index],
        "nvmlDeviceGetHandleByUUID": by_uuid,
        "nvmlDeviceGetUUID": lambda handle: handle,
        "nvmlDeviceGetName": lambda handle: {**CARDS, **PARTS}[handle].encode(),
    }
    for name, function in functions.items():
        setattr(library, name, function)
    return library


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", driver())
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.mark.usefixtures("cards")
@pytest.mark.parametrize(
    ("visible", "uuids"),
    [
        (None, ["GPU-aaaa-1", "GPU-aabb-2", "GPU-cccc-3"]),
        ("2,0", ["GPU-cccc-3", "GPU-aaaa-1"]),
        (" 1 ", ["GPU-aabb-2"]),
        ("GPU-cc,1", ["GPU-cccc-3", "GPU-aabb-2"]),
        ("MIG-1234", ["MIG-1234"]),
        ("", []),
        ("-1", []),
        ("NoDevFiles", []),
        ("0,7,1", ["GPU-aaaa-1"]),
        ("0,0,1", ["GPU-aaaa-1"]),
        ("GPU-aa", []),
        ("1,MIG-none,0", ["GPU-aabb-2"]),
    ],
)  # fmt: skip
def test_numbers_count_within_those_that_are_visible(
    visible: str | None, uuids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert gpu_count() == len(uuids)
    assert [gpu_uuid(i) for i in range(4)] == [*uuids, *[""] * (4 - len(uuids))]
    assert [gpu_name(i) for i in range(len(uuids))] == [{**CARDS, **PARTS}[one] for one in uuids]


@pytest.mark.usefixtures("cards")
def test_a_hidden_gpu_is_told_as_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(MeasurementError, match="CUDA_VISIBLE_DEVICES=''"):
        choose_kind("auto")


def test_a_driver_that_does_not_answer_has_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", driver(broken=True))
    assert (gpu_count(), gpu_name(0), gpu_uuid(0)) == (0, "", "")


def test_processes_count_by_bus_unless_the_user_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    assert child_environment()["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert by_bus({"CUDA_DEVICE_ORDER": "FASTEST_FIRST"})["CUDA_DEVICE_ORDER"] == "FASTEST_FIRST"


@pytest.mark.usefixtures("cards")
def test_ceilings_are_measured_on_the_card_that_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run_tool(argv: list[str], *, timeout_s: float, env: dict[str, str]) -> ToolRun:
        asked.append((argv[argv.index("--gpu") + 1], env["CUDA_VISIBLE_DEVICES"]))
        return ToolRun(command=tuple(argv), code=0, stdout="{}")

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,0")
    monkeypatch.setattr(ceilings, "run_tool", run_tool)
    ceilings.record_ceilings(gpu=1)
    assert asked == [("GPU-aaaa-1", "GPU-aaaa-1")]


def test_without_the_drivers_library_its_files_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setattr(gpus.Path, "glob", lambda path, pattern: iter(range(3)))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,1")
    assert gpu_count() == 2
    assert [visible_as(i) for i in range(3)] == ["2", "1", "2"]
