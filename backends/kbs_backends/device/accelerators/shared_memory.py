"""Leaving something in shared memory: a kernel that reads there before it writes gives it away.

Shared memory keeps what the kernel before has left, often zeros, so that a kernel that forgets
to clear it is right by luck. In the rounds of a check a kernel of ours runs just before the
candidate's and leaves values that are NaN as fp32, fp16 and bf16.
"""

from __future__ import annotations

import ctypes

from kbs_backends.device.accelerators.libcuda import CudaError, Driver

_PATTERN = 0x7FC07FC0
_THREADS = 1024
_UNITS, _MOST_SHARED = 16, 97
"""CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT and _MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"""
_DYNAMIC_SHARED = 8
"""CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"""
_CODE = b"""
.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 shared_bytes[];
.visible .entry kbs_dirty(.param .u32 words, .param .u32 pattern)
{
    .reg .pred %p;
    .reg .b32 %i, %n, %step, %word, %begin, %at;
    ld.param.u32 %n, [words];
    ld.param.u32 %word, [pattern];
    mov.u32 %i, %tid.x;
    mov.u32 %step, %ntid.x;
    mov.u32 %begin, shared_bytes;
LOOP:
    setp.ge.u32 %p, %i, %n;
    @%p bra END;
    shl.b32 %at, %i, 2;
    add.u32 %at, %at, %begin;
    st.volatile.shared.u32 [%at], %word;
    add.u32 %i, %i, %step;
    bra LOOP;
END:
    ret;
}
\0"""
"""One block on every multiprocessor, with all the shared memory that a block can have."""


class SharedMemory:
    """The kernel that leaves values, ready to be queued."""

    def __init__(self, driver: Driver, gpu: int) -> None:
        """Load it and run it once: loading waits for streams, so it cannot wait for a gate too."""
        self._driver = driver
        self._gpu = gpu
        self._function: ctypes.c_void_p | None = None
        self._nbytes = 0
        self._units = 0
        try:
            self._function = self._load()
        except CudaError:
            return  # a driver that does not take the code: `dirty` says False
        self.dirty(0)
        driver.call("cuCtxSynchronize")

    def dirty(self, stream: int) -> bool:
        """Queue the kernel; False on a device whose driver does not take it."""
        if self._function is None:
            return False
        words, pattern = ctypes.c_uint(self._nbytes // 4), ctypes.c_uint(_PATTERN)
        arguments = (ctypes.c_void_p * 2)(ctypes.addressof(words), ctypes.addressof(pattern))
        return self._driver.attempt(
            "cuLaunchKernel", self._function, self._units, 1, 1, _THREADS, 1, 1, self._nbytes,
            stream, arguments, None,
        )  # fmt: skip

    def _load(self) -> ctypes.c_void_p:
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self._units = self._attribute(_UNITS)
        self._nbytes = self._attribute(_MOST_SHARED)
        self._driver.call("cuModuleLoadData", ctypes.byref(module), _CODE)
        self._driver.call("cuModuleGetFunction", ctypes.byref(function), module, b"kbs_dirty")
        self._driver.call("cuFuncSetAttribute", function, _DYNAMIC_SHARED, self._nbytes)
        return function

    def _attribute(self, which: int) -> int:
        found = ctypes.c_int()
        self._driver.call("cuDeviceGetAttribute", ctypes.byref(found), which, self._gpu)
        return int(found.value)
