"""What caller and owner say to each other."""

from __future__ import annotations

import msgspec

from kbs_engine.jobs import AnyJob, Result


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One job, with the compiled libraries of its sources where their language makes them."""

    job: AnyJob
    artifacts: dict[str, str] = msgspec.field(default_factory=dict)
    """Source hash → path of its library."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one request."""

    result: Result
