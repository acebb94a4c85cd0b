"""Devices: run jobs here, replay recorded ones, write down what was answered.

- ``LocalDevice(blobs, kind="auto"|"cuda"|"host", gpu=0, …)``: this machine
- ``RecordedDevice(folder, blobs=None)``, ``Recorder(device, folder, blobs)``
- ``DevicePool(devices)``: several GPUs as one device
- ``open_device("auto"|"cuda:1"|"host"|"recorded:DIR", blobs, …)``

All have ``submit(job) -> Future[Result]``, ``close()`` and are context managers.
"""

from kbs_backends.device.local import LocalDevice
from kbs_backends.device.messages import Limits
from kbs_backends.device.opening import AnyDevice, DevicePool, open_device
from kbs_backends.device.recorded import RecordedDevice, Recorder
from kbs_backends.device.recording import read_recording

__all__ = [
    "AnyDevice",
    "DevicePool",
    "Limits",
    "LocalDevice",
    "RecordedDevice",
    "Recorder",
    "open_device",
    "read_recording",
]
