"""What caller and owner say to each other."""

from __future__ import annotations

import msgspec

from kbs_engine.jobs import AnyJob, Result


class Quiet(msgspec.Struct, frozen=True, kw_only=True, tag_field="job", tag="quiet"):
    """No job: wait until no process is opening the device, as another program is to measure."""


class Idle(msgspec.Struct, frozen=True, kw_only=True, tag_field="job", tag="idle"):
    """No job: nothing measures, so processes may open the device ahead of the next one."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One job, with the compiled libraries of its sources where their language makes them."""

    job: AnyJob | Quiet | Idle
    artifacts: dict[str, str] = msgspec.field(default_factory=dict)
    """Source hash → path of its library."""
    fill: bool = True
    """Whether processes may open the device once this is answered: not while tools open it."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one request."""

    result: Result | None
    """None: there was no job."""
