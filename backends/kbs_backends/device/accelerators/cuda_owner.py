"""The owner's side of an NVIDIA GPU.

The arena is one driver allocation, exported by CUDA IPC; the gate is a word behind it that
workers' streams wait for (cuStreamWaitValue32).
"""

from __future__ import annotations

from kbs_backends.device.accelerators.base import ArenaHandle
from kbs_backends.device.accelerators.libcuda import CudaError, Span, driver
from kbs_backends.device.accelerators.nvml import Card
from kbs_backends.device.messages import Go, Method
from kbs_backends.device.versions import library_versions
from kbs_backends.device.wire import Channel
from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import Provenance
from kbs_engine.results import Machine

GATE_BYTES = 256
FLUSH_FACTOR = 4
"""The flush reads so many times the L2, as lines are not replaced in order."""
SPECIAL_ARCH = 9
"""From compute capability 9 on, ``sm_90a`` names all features of the chip."""


class CudaBlock:
    """One allocation that one worker maps, and its gate."""

    def __init__(self, nbytes: int, device: str) -> None:
        """Allocate on the current device; CudaError."""
        import torch

        self._nbytes = nbytes
        self._address = driver().allocate(nbytes + GATE_BYTES)
        self._gate = self._address + nbytes
        driver().call("cuMemsetD32_v2", self._gate, 0, 1)
        self.bytes = torch.as_tensor(Span(self._address, nbytes), device=device)
        self._handle = driver().export(self._address)

    @property
    def handle(self) -> ArenaHandle:
        """The IPC handle; the gate lies behind the arena."""
        return ArenaHandle(
            data=self._handle, nbytes=self._nbytes, gate=self._nbytes.to_bytes(8, "little")
        )

    def release(self, gate: int, channel: Channel, method: Method) -> None:
        """Write the gate's word, or say Go where the host's clock is asked for."""
        import torch

        if method == "cuda_event":
            stream = torch.cuda.current_stream().cuda_stream
            driver().call("cuStreamWriteValue32_v2", stream, self._gate, gate, 0)
        else:
            channel.send(Go(gate=gate))

    def free(self) -> None:
        """Free; the worker that mapped it has ended."""
        if self._address:
            import torch

            torch.cuda.synchronize()
            driver().call("cuMemFree_v2", self._address)
            self._address = 0


class CudaOwner:
    """Owner's side: device memory, the gate, the flush."""

    name = "cuda"
    timer = "cuda_event (driver), checked against the owner's host clock"
    timer_step_ns = 500.0
    """Resolution of CUDA events, around 0.5 µs (CUDA driver API, cuEventElapsedTime)."""
    clock_slack_ns = 0.0
    queues_launches = True

    def __init__(self, gpu: int) -> None:
        """Open the device's primary context.

        Raises:
            MeasurementError: No such GPU, or torch without CUDA.
        """
        import torch

        if not torch.cuda.is_available():
            raise MeasurementError(
                "torch sees no GPU: " + ("it is a CPU build" if torch.version.cuda is None else
                                         "the driver is missing or too old"),
                remedy="install torch with CUDA for this driver, or give --device host",
            )  # fmt: skip
        if gpu >= torch.cuda.device_count():
            raise MeasurementError(
                f"there is no GPU {gpu}: {torch.cuda.device_count()} are here",
                remedy="give --gpu an index below that",
            )
        torch.cuda.set_device(gpu)
        torch.cuda.init()  # type: ignore[no-untyped-call]
        self.torch_device = f"cuda:{gpu}"
        properties = torch.cuda.get_device_properties(gpu)
        self._properties = properties
        self.memory_bytes = int(properties.total_memory)
        self._card = Card(str(getattr(properties, "uuid", "")), gpu)
        l2_bytes = int(getattr(properties, "L2_cache_size", 0)) or (64 << 20)
        self._flush = torch.ones(FLUSH_FACTOR * l2_bytes // 4, dtype=torch.int32,
                                 device=self.torch_device)  # fmt: skip

    def allocate(self, nbytes: int) -> CudaBlock:
        """One driver allocation, in a block of its own."""
        import torch

        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        try:
            return CudaBlock(nbytes, self.torch_device)
        except CudaError as problem:
            free, total = torch.cuda.mem_get_info()
            raise MeasurementError(
                f"no {nbytes / 2**30:.2f} GiB for the task's arguments: {problem} "
                f"({free / 2**30:.1f} of {total / 2**30:.1f} GiB are free)",
                remedy="use smaller dims, or free the GPU",
            ) from problem

    def flush_cache(self) -> None:
        """Read four times the L2: its lines are then clean and none of the task's.

        Reading leaves no dirty lines, whose write-back the next kernel would pay for.
        """
        import torch

        driver().attempt("cuCtxResetPersistingL2Cache")
        torch.sum(self._flush)

    def synchronize(self) -> None:
        """Wait for the owner's stream."""
        import torch

        torch.cuda.synchronize()

    def starved_ns(self, pid: int) -> float:
        """Nothing: calls run on the GPU."""
        del pid
        return 0.0

    def machine(self) -> Machine:
        """The GPU as torch and the driver tell it."""
        properties = self._properties
        major, minor = properties.major, properties.minor
        return Machine(
            device="cuda",
            gpu=properties.name,
            gpu_uuid=self._card.uuid,
            arch=f"sm_{major}{minor}" + ("a" if major >= SPECIAL_ARCH else ""),
            unit_count=properties.multi_processor_count,
            memory_bytes=properties.total_memory,
            l2_bytes=int(getattr(properties, "L2_cache_size", 0)) or None,
            driver=self._card.driver,
            versions=self._versions(),
        )

    def provenance(self) -> Provenance:
        """Card, driver, clocks, temperature and versions of now."""
        from datetime import datetime, timezone

        return Provenance(
            device="cuda",
            gpu=self._properties.name,
            gpu_uuid=self._card.uuid,
            driver=self._card.driver,
            toolchain=f"CUDA {self._versions().get('cuda', 'unknown')}",
            clocks_mhz=self.clocks_mhz(),
            temperature_c=self._card.temperature_c(),
            versions=self._versions(),
            date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        )

    def clocks_mhz(self) -> dict[str, float]:
        """SM and memory clock now, and the SM's highest."""
        return self._card.clocks_mhz()

    def close(self) -> None:
        """The process ends; the driver frees."""

    def _versions(self) -> dict[str, str]:
        import torch

        return {**library_versions(), "cuda": str(torch.version.cuda)}
