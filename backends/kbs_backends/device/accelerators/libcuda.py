"""The few driver calls that torch does not offer: IPC, stream waits, events, persisting L2.

Function pointers are looked up once, before any candidate is loaded. All calls act on the
current context, which is torch's primary one.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

WAIT_GEQ = 0
LIMIT_PERSISTING_L2 = 0x06
IPC_LAZY_PEER_ACCESS = 1
IPC_HANDLE_BYTES = 64
ALLOCATION_STEP = 2 << 20
"""The driver packs smaller allocations into one block, and IPC exports whole blocks."""
_STICKY = {
    700: "an illegal memory access was encountered", 716: "misaligned address",
    715: "illegal instruction", 719: "unspecified launch failure", 710: "device-side assert",
    714: "hardware stack error", 717: "illegal address space", 718: "invalid program counter",
}  # fmt: skip
_OUT_OF_MEMORY = 2


class IpcHandle(ctypes.Structure):
    """CUipcMemHandle."""

    _fields_ = (("reserved", ctypes.c_byte * IPC_HANDLE_BYTES),)


class CudaError(RuntimeError):
    """A driver call failed; the text is the driver's name for it."""

    def __init__(self, call: str, code: int) -> None:
        """Keep the code."""
        said = _STICKY.get(code) or ("out of memory" if code == _OUT_OF_MEMORY else _name(code))
        super().__init__(f"CUDA error: {said} (in {call}, code {code})")
        self.code = code


class Driver:
    """libcuda's functions, by name, checked."""

    def __init__(self) -> None:
        """Load the library; OSError where there is no driver."""
        self._lib = ctypes.CDLL("libcuda.so.1")
        pointer, size, word = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint
        device = ctypes.c_uint64
        self._functions: dict[str, Any] = {}
        for name, kinds in {
            "cuMemAlloc_v2": (pointer, size),
            "cuMemFree_v2": (device,),
            "cuIpcGetMemHandle": (pointer, device),
            "cuIpcOpenMemHandle_v2": (pointer, IpcHandle, word),
            "cuStreamWaitValue32_v2": (pointer, device, word, word),
            "cuStreamWriteValue32_v2": (pointer, device, word, word),
            "cuMemsetD32_v2": (device, word, size),
            "cuMemcpyDtoDAsync_v2": (device, device, size, pointer),
            "cuModuleLoadData": (pointer, ctypes.c_char_p),
            "cuModuleGetFunction": (pointer, pointer, ctypes.c_char_p),
            "cuFuncSetAttribute": (pointer, ctypes.c_int, ctypes.c_int),
            "cuDeviceGetAttribute": (pointer, ctypes.c_int, ctypes.c_int),
            "cuLaunchKernel": (pointer, *(word,) * 7, pointer, pointer, pointer),
            "cuCtxSynchronize": (),
            "cuCtxResetPersistingL2Cache": (),
            "cuCtxSetLimit": (ctypes.c_int, size),
            "cuEventCreate": (pointer, word),
            "cuEventRecord": (pointer, pointer),
            "cuEventElapsedTime": (pointer, pointer, pointer),
        }.items():
            function = getattr(self._lib, name)
            function.argtypes, function.restype = kinds, ctypes.c_int
            self._functions[name] = function

    def call(self, name: str, *arguments: Any) -> None:
        """Call and check; CudaError."""
        code = self._functions[name](*arguments)
        if code:
            raise CudaError(name, code)

    def attempt(self, name: str, *arguments: Any) -> bool:
        """Call what older chips do not have; whether it went well."""
        return not self._functions[name](*arguments)

    def allocate(self, nbytes: int) -> int:
        """Device memory in a block of its own; not initialised."""
        address = ctypes.c_uint64()
        rounded = -(-nbytes // ALLOCATION_STEP) * ALLOCATION_STEP
        self.call("cuMemAlloc_v2", ctypes.byref(address), rounded)
        return int(address.value)

    def export(self, address: int) -> bytes:
        """A handle by which another process opens the memory."""
        handle = IpcHandle()
        self.call("cuIpcGetMemHandle", ctypes.byref(handle), address)
        return bytes(handle)

    def open(self, handle: bytes) -> int:
        """The address of exported memory in this process."""
        address = ctypes.c_uint64()
        given = IpcHandle.from_buffer_copy(handle)
        self.call("cuIpcOpenMemHandle_v2", ctypes.byref(address), given, IPC_LAZY_PEER_ACCESS)
        return int(address.value)

    def event(self) -> int:
        """A timing event."""
        event = ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(event), 0)
        return int(event.value or 0)

    def elapsed_ns(self, start: int, stop: int) -> float:
        """Nanoseconds between two recorded events (the driver's milliseconds × 10⁶)."""
        out = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(out), start, stop)
        return float(out.value) * 1e6


@lru_cache(maxsize=1)
def driver() -> Driver:
    """The driver of this process."""
    return Driver()


def copy_device_to_device(to: int, source: int, nbytes: int) -> None:
    """Copy on the legacy default stream; the caller waits."""
    driver().call("cuMemcpyDtoDAsync_v2", to, source, nbytes, None)


def _name(code: int) -> str:
    text = ctypes.c_char_p()
    library = ctypes.CDLL("libcuda.so.1")
    if library.cuGetErrorString(ctypes.c_int(code), ctypes.byref(text)) or not text.value:
        return f"code {code}"
    return text.value.decode(errors="replace")


class Span:
    """Device memory at an address, for ``torch.as_tensor``."""

    def __init__(self, address: int, nbytes: int) -> None:
        """The memory stays whose it is."""
        self.__cuda_array_interface__ = {
            "shape": (nbytes,), "typestr": "|u1", "data": (address, False), "strides": None,
            "version": 3,
        }  # fmt: skip
