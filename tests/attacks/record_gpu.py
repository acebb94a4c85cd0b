"""Run the whole suite on a GPU and keep how every attack and twin ended.

    python -m tests.attacks.record_gpu --out tests/attacks/recorded --repeats 3

Writes ``<out>/<card>.json`` after every attack, so that a run that is cut short keeps what it
has; what is recorded already is skipped unless it is named (``--only``)
or all is wanted ``--again``. With ``--device host`` the
same script records the host device. Exit status 1 when an attack got through or a twin was
refused.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from kbs_backends.device.local import LocalDevice
from kbs_backends.device.messages import Limits
from kbs_engine.blobs import BlobStore
from kbs_engine.durable import write_whole
from kbs_engine.errors import KbsError
from kbs_engine.facts import Chip
from kbs_engine.jobs import Probe
from kbs_engine.results import Machine, read
from tests.attacks.manifest import SMALL_DIMS, TWIN_TASKS, TWINS, Attack, attacks, needs_gpu
from tests.attacks.recording import Recording, Row, load, scrubbed, without_paths
from tests.attacks.suite import FASTER_ON_HOST, TIGHT, Bench, Outcome, failure_of

FASTER_ON_GPU = 0.05


def main() -> int:
    """Record; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=3, help="of the honest twins")
    parser.add_argument("--device", choices=("cuda", "host"), default="cuda")
    parser.add_argument(
        "--chip", default="", help="chip id of the wiki, or a file of JSON, for the floor"
    )
    parser.add_argument("--only", nargs="*", default=[], help="ids of attacks, names of twins")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--switches", action="store_true", help="also with defences switched off")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return _Recorder(options, Path(folder)).run()


class _Recorder:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self._options = options
        self._blobs = BlobStore(folder / "blobs")
        self._chip = _chip(options.chip) if options.chip else None
        self._where = ("host",) if options.device == "host" else ("host", "cuda")
        with self._open() as device:
            machine = read(device.submit(Probe()).result(), Machine)
        name = "host" if options.device == "host" else machine.gpu.lower().replace(" ", "_")
        self._path = options.out / f"{name}.json"
        self._kept = load(self._path) if self._path.exists() and not options.again else None
        self._machine = machine
        self._rows: dict[str, Row] = {row.id: row for row in self._kept.rows} if self._kept else {}
        self._wrong = 0

    def run(self) -> int:
        wanted = self._options.only
        with self._open() as normal, self._open(limits=Limits(**TIGHT)) as tight:
            for attack in attacks(*self._where):
                if attack.file and (attack.id in wanted or not wanted):
                    self._attack(attack, tight if attack.tight else normal)
            for path in sorted(TWINS.iterdir()):
                if path.suffix in (".py", ".cu") and (path.stem in wanted or not wanted):
                    self._twin(path, normal)
        if self._options.switches and not wanted:
            self._without()
        return 1 if self._wrong else 0

    def _open(self, **more) -> LocalDevice:
        return LocalDevice(self._blobs, kind=self._options.device, chip=self._chip, **more)

    def _bench(self, device: LocalDevice) -> Bench:
        host = self._options.device == "host"
        return Bench(device, self._blobs, noise=FASTER_ON_HOST if host else FASTER_ON_GPU)

    def _attack(self, attack: Attack, device: LocalDevice) -> None:
        if attack.id in self._rows and attack.id not in self._options.only:
            return
        outcome = _tried(lambda: self._bench(device).run(attack))
        on_cuda = self._options.device == "cuda"
        self._keep(attack.id, "attack", [outcome], failure_of(attack, outcome, on_cuda=on_cuda))

    def _twin(self, path: Path, device: LocalDevice) -> None:
        stem = path.stem
        if (stem in self._rows and stem not in self._options.only) or (
            self._options.device == "host" and needs_gpu(path)
        ):
            return
        task = TWIN_TASKS.get(stem, "silu_bias")
        dims = SMALL_DIMS.get(stem) if self._options.device == "host" else None
        outcomes = [
            _tried(lambda: self._bench(device).run_twin(stem, task, dims))
            for _ in range(self._options.repeats)
        ]
        refused = [one.code for one in outcomes if one.code != "accepted"]
        self._keep(stem, "twin", outcomes, f"refused as {refused[0]}" if refused else None)

    def _without(self) -> None:
        """Every attack again without the one defence that stops it."""
        where = self._where[-1:]  # on a GPU only what the host device cannot show
        for defence in sorted({a.without for a in attacks(*where) if a.without and a.file}):
            with self._open(off=(defence,)) as device:
                for attack in attacks(*where):
                    key = f"{attack.id} without {defence}"
                    if attack.without == defence and key not in self._rows:
                        outcome = self._best_try(device, attack)
                        self._keep(key, "without", [outcome], None)

    def _best_try(self, device: LocalDevice, attack: Attack) -> Outcome:
        """Some attacks race with the owner: one success in three is a success of the attack."""
        for _ in range(3):
            outcome = _tried(lambda: self._bench(device).run(attack))
            if outcome.code == "accepted":
                break
        return outcome

    def _keep(self, name: str, kind: str, outcomes: list[Outcome], wrong: str | None) -> None:
        self._rows[name] = Row(
            id=name, kind=kind, outcomes=tuple(scrubbed(one) for one in outcomes),
            wrong=without_paths(wrong or ""), date=time.strftime("%Y-%m-%d", time.gmtime()),
        )  # fmt: skip
        self._wrong += wrong is not None
        sys.stdout.write(f"{name}: {wrong or outcomes[0].code}\n")
        sys.stdout.flush()
        recording = Recording(machine=self._machine, rows=tuple(self._rows.values()))
        data = msgspec.json.format(msgspec.json.encode(recording), indent=1)
        write_whole(self._path, data + b"\n")


def _tried(run) -> Outcome:
    """A job that could not be carried out is an outcome too: the others go on."""
    try:
        return run()
    except KbsError as problem:
        return Outcome(code="job failed", detail=str(problem)[:300])


def _chip(name: str) -> Chip:
    """Cited specs from the wiki's own page, or from a file of JSON where there is no wiki."""
    if name.endswith(".json"):
        return msgspec.json.decode(Path(name).read_bytes(), type=Chip)
    from kbs_ingest.wiki.load import load_wiki  # needs DuckDB

    wiki = load_wiki([Path(__file__).resolve().parents[2] / "gpu-wiki"])
    return wiki.chips[name].chip


if __name__ == "__main__":
    sys.exit(main())
