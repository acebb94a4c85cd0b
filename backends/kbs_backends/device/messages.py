"""What owner, zygote and worker say to each other.

The worker's messages are claims: the owner compares outputs itself and has its own clock.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from kbs_backends.device.layout import Placed
from kbs_engine.vocabulary import Language

Method = Literal["cuda_event", "late_event", "host_time", "do_bench"]
"""By which clock a call is timed; ``late_event``: events, and nothing is queued before the gate."""
Trial = Literal["in_place", "returned"]
"""How a call of the harness's own gives its outputs: where they belong, or as new tensors."""

WatchMode = Literal["", "count", "refuse", "skip"]
"""What a call is watched for: nothing; its launches and library operations; the same with
library operations failing; the same with its own launches doing nothing."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one candidate may take, and the user's reference."""

    load_s: float = 180.0
    """Wall seconds for loading and, where the language compiles then, for the first call."""
    idle_s: float = 20.0
    """So long may a process do nothing within ``load_s``: a compiler uses the processor."""
    call_s: float = 20.0
    """Wall seconds for a call once everything is compiled."""
    reference_s: float = 600.0
    """Wall seconds for one use of the reference or its ``setup``."""
    cpu_s: int = 1800
    memory_bytes: int = 16 << 30
    """Host memory on top of what an idle worker holds."""
    file_bytes: int = 1 << 30
    """One file."""
    folder_bytes: int = 4 << 30
    """The private folder as a whole."""
    output_bytes: int = 8 << 20
    """Captured stdout and stderr, each."""
    children: int = 64
    """Processes at once while loading (compilers)."""
    waiting: int | None = None
    """Processes that open the device ahead of need, once a few candidates were judged; None: as
    many as the memory of a GPU has room for, on the host none."""


class StartWorker(msgspec.Struct, frozen=True, kw_only=True, tag="start"):
    """Owner to zygote: fork one worker. Descriptors: channel, stdout, stderr, then the arena's."""

    folder: str
    limits: Limits
    trusted: bool
    sandbox: bool
    hidden: tuple[str, ...] = ()
    """Folders that it may not read, its own apart."""


class Started(msgspec.Struct, frozen=True, kw_only=True, tag="started"):
    """Zygote to owner."""

    pid: int


class ReapWorker(msgspec.Struct, frozen=True, kw_only=True, tag="reap"):
    """Owner to zygote: kill the worker's group and whatever it left, and tell how it ended."""

    pid: int


class Reaped(msgspec.Struct, frozen=True, kw_only=True, tag="reaped"):
    """Zygote to owner. ``status`` is what waitpid gave; negative is a signal."""

    pid: int
    status: int
    orphans: int
    """Processes that outlived the worker and were killed."""


ToZygote = StartWorker | ReapWorker
FromZygote = Started | Reaped


class Up(msgspec.Struct, frozen=True, kw_only=True, tag="up"):
    """Worker: hardened and ready to load. The seccomp listener's descriptor comes with it."""

    isolation: dict[str, str]
    """Each measure: ``on``, or why it is not."""


class Open(msgspec.Struct, frozen=True, kw_only=True, tag="open"):
    """Owner: open the device; for whom is not known yet."""

    accelerator: str
    gpu: int


class Attach(msgspec.Struct, frozen=True, kw_only=True, tag="attach"):
    """Owner: map the arena; nothing of the candidate is loaded yet."""

    arena: bytes
    """What the accelerator's ``open`` needs, beside the descriptors."""
    arena_bytes: int
    gate: bytes = b""


class Load(msgspec.Struct, frozen=True, kw_only=True, tag="load"):
    """Owner: load a candidate (``language``) or a baseline of the reference."""

    path: str
    """The candidate's own copy in its folder, or the reference's."""
    language: Language | None = None
    artifact: str | None = None
    baseline: str = ""
    dims: dict[str, Any] = msgspec.field(default_factory=dict)
    only_returned: tuple[str, ...] = ()
    """For a baseline: outputs that the reference returns and does not take as arguments."""


class CallOnce(msgspec.Struct, frozen=True, kw_only=True, tag="call"):
    """Owner: make one call on these arguments when gate ``gate`` opens."""

    gate: int
    tensors: tuple[Placed, ...]
    scalars: dict[str, Any]
    order: tuple[str, ...]
    """Argument names in the order of the reference's inputs."""
    outputs: tuple[str, ...] = ()
    method: Method = "cuda_event"
    trial: Trial | None = None
    """Not the candidate but the harness's own call: measures what the clocks themselves take."""
    watch: WatchMode = ""
    dirty: bool = False
    """Leave values in on-chip memory first: not in timed calls."""


class Inspect(msgspec.Struct, frozen=True, kw_only=True, tag="inspect"):
    """Owner: tell global state now and at the start."""


class Go(msgspec.Struct, frozen=True, kw_only=True, tag="go"):
    """Owner: the gate is open (devices whose gate is no memory word)."""

    gate: int


ToWorker = Open | Attach | Load | CallOnce | Inspect | Go


class Opened(msgspec.Struct, frozen=True, kw_only=True, tag="opened"):
    """Worker: the device is open."""


class Attached(msgspec.Struct, frozen=True, kw_only=True, tag="attached"):
    """Worker: the arena is mapped."""


class Loaded(msgspec.Struct, frozen=True, kw_only=True, tag="loaded"):
    """Worker: the candidate can be called."""

    arguments: tuple[str, ...] = ()


class Armed(msgspec.Struct, frozen=True, kw_only=True, tag="armed"):
    """Worker: arguments are made; the call waits for its gate."""

    gate: int


class Launched(msgspec.Struct, frozen=True, kw_only=True, tag="launched"):
    """Worker: the call returned while its gate was still shut (asynchronous launches)."""

    gate: int


class Stopped(msgspec.Struct, frozen=True, kw_only=True, tag="stopped"):
    """Worker: the whole device is done; what was returned is judged and copied from here on."""

    gate: int


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """Worker: what a watched call did. A claim."""

    launched: tuple[str, ...] = ()
    """Triton kernels of the candidate."""
    operations: tuple[str, ...] = ()
    """Operations of libraries, such as ``aten::mul``."""
    defined: tuple[str, ...] = ()
    """Triton kernels that the candidate defines, launched or not."""


class Done(msgspec.Struct, frozen=True, kw_only=True, tag="done"):
    """Worker: the call and the whole device are done."""

    gate: int
    device_ns: float
    """The fine clock's claim."""
    fault: str = ""
    """A reason code about what the call returned; empty when nothing is wrong."""
    detail: str = ""
    returned: bool = False
    """Whether outputs were returned and copied, in place of written where they belong."""
    seen: Seen | None = None
    """Of a watched call."""


class State(msgspec.Struct, frozen=True, kw_only=True, tag="state"):
    """Worker: what is not as it was when the worker started."""

    changed: tuple[str, ...]
    patched: tuple[str, ...]
    threads: tuple[str, ...]


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """Worker: the candidate raised."""

    code: str
    detail: str


FromWorker = Up | Opened | Attached | Loaded | Armed | Launched | Stopped | Done | State | Failed
