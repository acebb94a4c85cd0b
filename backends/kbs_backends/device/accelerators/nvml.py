"""What the driver's management library tells of one card: driver, clocks, temperature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Card:
    """One card by uuid (torch and nvml may number cards differently); absent values stay so."""

    def __init__(self, uuid: str, gpu: int) -> None:
        """``gpu`` is used where the uuid is not known."""
        import pynvml

        self._nvml = pynvml
        self._handle: Any = None
        self.uuid = uuid if uuid.startswith(("GPU-", "MIG-")) or not uuid else f"GPU-{uuid}"
        try:
            pynvml.nvmlInit()
            if self.uuid:
                self._handle = pynvml.nvmlDeviceGetHandleByUUID(self.uuid)
            else:
                self._handle = pynvml.nvmlDeviceGetHandleByIndex(gpu)
        except pynvml.NVMLError:
            self._handle = None

    @property
    def driver(self) -> str:
        """Driver version; empty where it is not told."""
        return str(self._ask(self._nvml.nvmlSystemGetDriverVersion) or "")

    def clocks_mhz(self) -> dict[str, float]:
        """``sm``, ``memory`` and ``sm_max``."""
        nvml, handle = self._nvml, self._handle
        asked = {
            "sm": lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
            "memory": lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM),
            "sm_max": lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_SM),
        }
        found = {name: self._ask(ask) for name, ask in asked.items()}
        return {name: float(value) for name, value in found.items() if value is not None}

    def temperature_c(self) -> float | None:
        """Temperature of the GPU in °C."""
        nvml = self._nvml
        value = self._ask(
            lambda: nvml.nvmlDeviceGetTemperature(self._handle, nvml.NVML_TEMPERATURE_GPU)
        )
        return None if value is None else float(value)

    def _ask(self, question: Callable[[], Any]) -> Any:
        if self._handle is None:
            return None
        try:
            return question()
        except self._nvml.NVMLError:
            return None
