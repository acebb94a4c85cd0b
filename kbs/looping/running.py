"""``run_loop``: knowledge, device, proposer and run folder, wired and driven."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from kbs.inspecting import gate_inspectors
from kbs.looping.driver import Answers, Driver, Show, Until
from kbs.looping.progress import Quiet
from kbs.looping.sources import source_switches
from kbs.looping.tidying import tidy
from kbs.looping.told_before import AskRecorder, AskReplayer, is_recorded
from kbs.looping.world import World
from kbs.looping.writing import Writer
from kbs_engine.adaptive import ProfilePlan, widest_pass
from kbs_engine.errors import KbsError
from kbs_engine.facts import Chip
from kbs_engine.gate import Inspectors
from kbs_engine.jobs import SourceRef, Task
from kbs_engine.loop.machine import LoopState
from kbs_engine.run import RunFolder
from kbs_engine.run.records import Settings, State


class Wiring(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is wired to, besides what its settings say."""

    home: Path | None
    roots: tuple[Path, ...]
    """Wiki folders, for the gate's citations."""
    store: Any = None
    """``kbs_ingest.store.Store``; None where the run uses no knowledge."""
    device: str = ""
    """Overrides the device of the settings: a run goes on where it is resumed."""
    record: Path | None = None
    remember: bool = True
    """Whether outcomes go to the experience log; those of a replay never do."""
    proposer: Any = None
    """A ``kbs_engine.ports.Proposer`` of the caller's, in place of the settings' own."""


def run_loop(
    run: RunFolder, wiring: Wiring, *, show: Show | None = None, until: Until | None = None
) -> LoopState:
    """Go on with a run that is open for writing, until it ends, waits, or ``until`` says so.

    Raises:
        KbsError: A refusing gate, a job that could not be carried out, an agent waited for.
    """
    settings = run.state().settings
    tidy(run.root)
    with opened(run, settings, wiring) as device:
        world = wired(run, settings, wiring)
        driver = Driver(run, device, world, Writer(run), show or Quiet())
        return driver.go(until)


@contextlib.contextmanager
def opened(run: RunFolder, settings: Settings, wiring: Wiring) -> Iterator[Any]:
    """The device of a run; it is opened by the first job, for not every step needs one."""
    device = _Lazy(run, settings, wiring)
    try:
        yield device
    finally:
        device.close()


class _Lazy:
    """A device that is opened when something is submitted."""

    def __init__(self, run: RunFolder, settings: Settings, wiring: Wiring) -> None:
        self.run, self.settings, self.wiring = run, settings, wiring
        self.device: Any = None

    def submit(self, job: Any) -> Any:
        """Open the device once, then submit."""
        if self.device is None:
            self.device = self._open()
        return self.device.submit(job)

    def close(self) -> None:
        """Close what was opened."""
        if self.device is not None:
            self.device.close()

    def _open(self) -> Any:
        from kbs_backends.device import RecordedDevice, Recorder, open_device

        spec = self.wiring.device or self.settings.device
        options: dict[str, Any] = {}
        if spec.startswith(("auto", "cuda")):
            options["chip"] = self._chip(spec)
        device: Any = open_device(spec, self.run.blobs, **options)
        if not isinstance(device, RecordedDevice):
            device.expect_many(self._widest())
        if self.wiring.record is not None:
            device = Recorder(device, self.wiring.record, self.run.blobs)
        return device

    def _widest(self) -> Callable[[int], ProfilePlan] | None:
        """What a second pass could ask for; None where no knowledge would ask for one."""
        store = self.wiring.store
        if store is None or not self.settings.extra.get("knowledge", True):
            return None
        rules, names = store.rules(), store.metric_map("nvidia")
        return lambda arch: widest_pass(rules, names, arch=arch)

    def _chip(self, spec: str) -> Chip | None:
        """Cited specs of the GPU here, for the physics floor; None where nobody knows it."""
        from kbs_backends.device.gpus import gpu_name

        index = spec.partition(":")[2].split(",")[0]
        name = gpu_name(int(index) if index.isdigit() else 0)
        if not name or self.wiring.store is None:
            return None
        try:
            chip: Chip = self.wiring.store.chip(name)
        except KbsError:
            return None
        return chip


def wired(run: RunFolder, settings: Settings, wiring: Wiring) -> Answers:
    """Everything that answers asks; recorded or replayed where the device is."""
    state = run.state()
    spec = wiring.device or settings.device
    folder = replayed(spec)
    world: Answers = World(
        run=run,
        home=wiring.home,
        store=wiring.store if settings.extra.get("knowledge", True) else None,
        proposer=wiring.proposer or make_proposer(run, state, wiring.roots),
        inspectors=_inspectors(run, wiring, replaying=folder is not None),
        remember=wiring.remember and not spec.startswith("recorded:"),
    )
    if folder is not None:
        world = AskReplayer(world, folder, run.blobs, submitted=settings.proposer == "agent")
    if wiring.record is not None:
        world = AskRecorder(world, wiring.record, run.blobs)
    return world


def replayed(spec: str) -> Path | None:
    """The recording whose answers a device spec replays; None for any other device."""
    folder = Path(spec.removeprefix("recorded:"))
    return folder if spec.startswith("recorded:") and is_recorded(folder) else None


def _inspectors(run: RunFolder, wiring: Wiring, *, replaying: bool) -> Inspectors:
    """What the gate borrows; a replay's citations are of another day and not judged by today's."""
    if replaying:
        return loop_inspectors(None)
    return loop_inspectors(gate_inspectors(wiring.roots, run.root, known_record=_known(wiring)))


def loop_inspectors(lent: Inspectors | None) -> Inspectors:
    """What a gate of the loop itself borrows; a replay (None) reads marks alone."""
    return msgspec.structs.replace(lent or Inspectors(switches=source_switches), looping=True)


def _known(wiring: Wiring) -> Any:
    """Whether an outcome's id is in the experience log."""
    return None if wiring.store is None else wiring.store.holds_outcome


def make_proposer(run: RunFolder, state: State, roots: tuple[Path, ...]) -> Any:
    """The proposer that the settings name; None where an agent submits."""
    settings = state.settings
    if settings.proposer == "agent":
        return None
    if settings.proposer == "command":
        from kbs.proposers.command import CommandProposer

        return CommandProposer(settings.proposer_command, timeout_s=settings.proposer_timeout_s)
    from kbs.proposers.builtin import BuiltinProposer
    from kbs.proposers.templates import TemplateSource

    task = Task(
        reference_sha256=state.reference_sha256,
        dims=settings.dims,
        atol=settings.atol,
        rtol=settings.rtol,
        outputs=settings.outputs,
        ptr_size=settings.ptr_size,
        permitted=settings.permitted,
        setup=SourceRef(
            sha256=state.baseline_sha256, language=settings.language, name=settings.kernel_file
        ),
    )
    template = None
    if settings.extra.get("templates", True):
        template = TemplateSource(task, run.blobs, roots, settings.language, settings.arch)
    return BuiltinProposer(task, arch=settings.arch, template=template)
