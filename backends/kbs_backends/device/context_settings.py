"""How an owner is started."""

from __future__ import annotations

import msgspec

from kbs_backends.device.messages import Limits


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How an owner was started."""

    kind: str
    gpu: int
    blobs: str
    workdir: str
    temporary: bool = False
    """Whether the folder goes when the caller is gone without having closed the device."""
    limits: Limits = Limits()
    many: bool = False
    """Whether a loop's jobs will come: processes for them open the device from the start."""
    off: tuple[str, ...] = ()
    """Ids of defences that a test has switched off (``kbs_engine.refusals.DEFENCES``)."""
