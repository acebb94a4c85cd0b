"""What a call returned, judged and brought to the outputs' place in the arena as raw bytes.

Runs in the worker after the clock has stopped. It is a convenience for honest kernels and a
first look at tricks; the owner compares the bytes in the arena in any case. Functions of
torch are taken at import, before a candidate can put others in their place.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from kbs_backends.device.layout import TensorSpec

_Tensor = torch.Tensor
_data_ptr = torch.Tensor.data_ptr
_stride = torch.Tensor.stride
_copy = torch.Tensor.copy_
_storage = torch.Tensor.untyped_storage
_storage_bytes = torch.UntypedStorage.nbytes
_storage_offset = torch.Tensor.storage_offset
_storage_ptr = torch.UntypedStorage.data_ptr


class BadReturnError(Exception):
    """What was returned is no result."""

    def __init__(self, code: str, detail: str) -> None:
        """Keep the reason code."""
        super().__init__(detail)
        self.code = code


def named(value: object, outputs: Sequence[str]) -> dict[str, Any]:
    """Returned tensors by output name; empty when the kernel writes in place."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {str(name): one for name, one in value.items() if name in outputs}
    several = list(value) if isinstance(value, (tuple, list)) else [value]
    several = [one for one in several if one is not None]
    if len(several) > len(outputs):
        raise BadReturnError("wrong_shape", f"{len(several)} values for {len(outputs)} outputs")
    return dict(zip(outputs, several, strict=False))


def deliver(
    value: object,
    outputs: Mapping[str, tuple[TensorSpec, torch.Tensor]],
    inputs: Sequence[torch.Tensor],
    *,
    trusted: bool,
) -> int:
    """Bring what was returned to the outputs' views; how many had to be copied.

    Raises:
        BadReturnError: It is no result.
    """
    copied = 0
    for name, tensor in named(value, tuple(outputs)).items():
        spec, place = outputs[name]
        if tensor is place:
            continue
        copied += 1
        if trusted:
            _copy(place, tensor)
            continue
        _judge(name, tensor, spec, place, inputs)
        if _stride(tensor) == spec.stride:
            _raw_copy(place, tensor, spec.extent_bytes)
        else:
            _copy(place, tensor)
    return copied


def _judge(
    name: str,
    tensor: object,
    spec: TensorSpec,
    place: torch.Tensor,
    inputs: Sequence[torch.Tensor],
) -> None:
    if type(tensor) is not _Tensor:
        raise BadReturnError("lazy_tensor", f"{name} is a {type(tensor).__name__}")
    if tensor.__dict__:
        raise BadReturnError("patched_instance", f"{name} has {', '.join(tensor.__dict__)}")
    _judge_metadata(name, tensor, spec, place)
    if spec.extent_bytes:
        _judge_storage(name, tensor, inputs)


def _judge_metadata(name: str, tensor: torch.Tensor, spec: TensorSpec, place: torch.Tensor) -> None:
    dtype = str(tensor.dtype).removeprefix("torch.")
    if tensor.device != place.device:
        raise BadReturnError("wrong_device", f"{name} lies on {tensor.device}")
    if dtype != spec.dtype:
        raise BadReturnError("wrong_dtype", f"{name} is {dtype}, not {spec.dtype}")
    if tuple(tensor.shape) != spec.shape:
        raise BadReturnError("wrong_shape", f"{name} is {tuple(tensor.shape)}, not {spec.shape}")
    if spec.extent_bytes and not spec.any_layout and _stride(tensor) != spec.stride:
        raise BadReturnError(
            "wrong_stride", f"{name} has strides {_stride(tensor)}, not {spec.stride}"
        )


def _judge_storage(name: str, tensor: torch.Tensor, inputs: Sequence[torch.Tensor]) -> None:
    storage, begin = _storage(tensor), _data_ptr(tensor)
    end = begin + _extent_bytes(tensor)
    if begin == 0 or _storage_ptr(storage) + _storage_bytes(storage) < end:
        raise BadReturnError("lazy_tensor", f"{name} has no storage of its size")
    for one in inputs:
        start = _data_ptr(one)
        if start and start < end and begin < start + _span(one):
            raise BadReturnError("aliased_output", f"{name} shares memory with an input")


def _extent_bytes(tensor: torch.Tensor) -> int:
    """From its first element to behind its last."""
    last = sum((n - 1) * s for n, s in zip(tuple(tensor.shape), _stride(tensor), strict=True))
    return int((last + 1) * tensor.element_size())


def _span(tensor: torch.Tensor) -> int:
    return int(_storage_bytes(_storage(tensor)) - _storage_offset(tensor) * tensor.element_size())


def _raw_copy(place: torch.Tensor, tensor: torch.Tensor, nbytes: int) -> None:
    """By address: no method of the returned object is asked for its values."""
    if nbytes == 0:
        return
    if place.is_cuda:
        from kbs_backends.device.accelerators.libcuda import copy_device_to_device

        copy_device_to_device(_data_ptr(place), _data_ptr(tensor), nbytes)
    else:
        ctypes.memmove(_data_ptr(place), _data_ptr(tensor), nbytes)
