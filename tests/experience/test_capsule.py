"""A claim in one file, and the claim measured again."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import shutil
import zipfile
from concurrent.futures import Future

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from kbs.cli import cli
from kbs.experience.replicating import replicate
from kbs_engine.blobs import BlobStore
from kbs_engine.errors import InputError, KbsError, MeasurementError, RefusedError
from kbs_engine.experience.capsule import MANIFEST, Capsule, Claim, pack, unpack
from kbs_engine.experience.packing import capsule_of_run
from kbs_engine.jobs import Check, Provenance, Result, SourceRef, Task, Time, TimingSettings
from kbs_engine.results import ArmTimes, Checked, Machine, Round, Timed
from kbs_engine.run import RunFolder
from kbs_engine.run.benches import build_bench
from kbs_engine.run.files import as_json
from kbs_engine.run.judged import MethodsFile, VersionMethod
from kbs_engine.run.measured import Bench
from kbs_engine.run.records import with_version
from kbs_ingest.experience import Lore
from tests.run import texts
from tests.run.folder import Builder
from tests.thinned import thinned

FILES = {"ref.py": b"def reference(): ...\n", "v0/kernel.py": b"# v0\n", "v2/kernel.py": b"# v2\n"}


def sha(name):
    return hashlib.sha256(FILES[name]).hexdigest()


def source(name):
    return SourceRef(sha256=sha(name), language="triton", name="kernel.py")


class FakeDevice:
    """Answers jobs with what the test says."""

    def __init__(self, *, champion_ns=100.0, v0_ns=200.0, device="cuda", wrong=None, refused=None):
        self.times = {sha("v2/kernel.py"): champion_ns, sha("v0/kernel.py"): v0_ns}
        self.device, self.wrong, self.refused = device, wrong or {}, refused or {}
        self.jobs = []

    def submit(self, job):
        self.jobs.append(job)
        future = Future()
        kind = type(job).__name__.lower()
        value = msgspec.to_builtins(getattr(self, kind)(job))
        made = Provenance(versions={"triton": "3.9"}, gpu="Some GPU")
        future.set_result(Result(job_key=job.key, kind=kind, value=value, provenance=made))
        return future

    def probe(self, _):
        return Machine(device=self.device, gpu="Some GPU", gpu_uuid="GPU-7", arch="sm_90a")

    def check(self, job):
        reason = self.wrong.get(job.source.sha256)
        rounds = (Round(distribution="normal", compared_elements=64, ok=reason is None),)
        return Checked(passed=reason is None, reason=reason, rounds=rounds)

    def time(self, job):
        arms = []
        for side, arm in enumerate(job.arms):
            mean = self.times[arm.sha256]
            samples = [mean * (1 + 0.002 * ((i * 7 + side) % 5 - 2)) for i in range(60)]
            pairs = [i // 20 for i in range(60)]
            position = [2 * (i % 20) + (side if i % 2 else 1 - side) for i in range(60)]
            arms.append(ArmTimes(name=arm.name, sha256=arm.sha256, samples_ns=tuple(samples),
                                 process=tuple(pairs), position=tuple(position),
                                 reason=self.refused.get(arm.sha256)))  # fmt: skip
        return Timed(arms=tuple(arms), timer="cuda_event")


TASK = Task(reference_sha256=sha("ref.py"), dims={"n": 64})
TIMING = TimingSettings(trials=11)


def bench_of(champion, v0, task=TASK, timing=TIMING, rounds=10):
    """bench.json of a champion twice as fast as v0, from the answers of the device above."""
    device = FakeDevice()
    device.times = {champion.sha256: 100.0, v0.sha256: 200.0}
    check = device.submit(Check(source=champion, task=task, rounds=rounds)).result()
    time = device.submit(Time(arms=(champion, v0), task=task, settings=timing)).result()
    return build_bench(version=2, name="champion", source_sha256=champion.sha256, checks=[check],
                       blocks=[time], settings=timing, noise=0.02)  # fmt: skip


def claim_of(bench):
    (row,) = bench.comparisons
    return Claim(ratio=row.ratio, low=row.low, high=row.high)


BENCH = bench_of(source("v2/kernel.py"), source("v0/kernel.py"))
FILES["v2/bench.json"] = as_json(BENCH)
HELD = MethodsFile(
    version=2,
    methods=(VersionMethod(method="smem_padding", axis="memory", rank=1, trigger_strength=0.5),),
)
FILES["v2/methods.json"] = as_json(HELD)
CLAIM = claim_of(BENCH)
CAPSULE = Capsule(
    run="r1", version=2, language="triton", kernel="softmax", chip="h100_sxm", arch="sm_90a",
    gpu="Some GPU", methods=("smem_padding",), task=TASK, timing=TIMING,
    v0=source("v0/kernel.py"), champion=source("v2/kernel.py"), claim=CLAIM,
    targets=("t" * 64,), files={name: sha(name) for name in FILES},
)  # fmt: skip


def again(tmp_path, device, **options):
    opened = unpack(pack(CAPSULE, FILES), "x")
    return replicate(opened, device, BlobStore(tmp_path / "blobs"), lore=Lore(), **options)


def test_one_capsule_has_one_form_and_comes_back():
    data = pack(CAPSULE, FILES)
    assert data == pack(CAPSULE, dict(reversed(FILES.items())))
    opened = unpack(data, "x")
    assert opened.manifest == CAPSULE
    assert sorted(opened.files.values()) == sorted(FILES.values())


def test_files_and_manifest_must_agree():
    with pytest.raises(ValueError, match="are those of its manifest"):
        pack(CAPSULE, {**FILES, "ref.py": b"other"})


def edited(change):
    """The capsule with one member replaced or left out."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(pack(CAPSULE, FILES))) as old,
        zipfile.ZipFile(buffer, "w") as new,
    ):
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda n, c: b"# faster\n" if n.startswith("v2") else c, "does not have the hash"),
        (lambda n, c: None if n == "ref.py" else c, "ref.py is missing"),
        (lambda n, c: None if n == MANIFEST else c, "manifest.json is missing"),
        (lambda n, c: b"{}" if n == MANIFEST else c, "manifest cannot be read"),
        (
            lambda n, c: json.dumps({**json.loads(c), "schema_version": 9}) if n == MANIFEST else c,
            "newer kbs",
        ),
    ],
)
def test_an_altered_capsule_is_refused(change, told):
    with pytest.raises(InputError, match=told):
        unpack(edited(change), "x")


@given(st.binary(max_size=300), st.integers(0, 600))
def test_any_bytes_are_a_capsule_or_an_error(junk, cut):
    good = pack(CAPSULE, FILES)
    for data in (junk, good[:cut], good[:cut] + junk + good[cut + len(junk) :]):
        with contextlib.suppress(InputError):
            assert unpack(data, "x").manifest.run


def test_names_that_are_no_text_are_refused():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("\u00e9", b"")
    with pytest.raises(InputError, match="is no capsule"):
        unpack(made.getvalue().replace("\u00e9".encode(), b"\xff\xfe"), "x")


def test_a_claim_that_holds_is_replicated(tmp_path):
    found = again(tmp_path, FakeDevice())
    assert found.verdict == "replicated"
    assert found.ratio == pytest.approx(2.0, rel=0.02)
    assert found.low <= found.ratio <= found.high
    assert (found.machine, found.device, found.claimed) == (
        "GPU-7",
        "cuda",
        (CLAIM.ratio, CLAIM.low, CLAIM.high),
    )
    assert found.targets == CAPSULE.targets
    assert found.versions == {"triton": "3.9"}


def test_a_claim_that_does_not_hold_is_told(tmp_path):
    found = again(tmp_path, FakeDevice(champion_ns=200.0))
    assert (found.verdict, found.reason) == ("not replicated", "the champion is within noise here")


def test_a_kernel_that_fails_here_claims_nothing(tmp_path):
    found = again(tmp_path, FakeDevice(wrong={sha("v2/kernel.py"): "wrong_result"}))
    assert (found.verdict, found.correct, found.integrity) == ("failed", False, True)
    assert found.reason.startswith("champion: wrong_result")
    assert found.ratio is None


def test_a_trick_is_no_mere_mistake(tmp_path):
    from kbs_engine.refusals import REASONS

    trick = next(code for code, reason in REASONS.items() if reason.kind == "integrity")
    found = again(tmp_path, FakeDevice(refused={sha("v2/kernel.py"): trick}))
    assert (found.verdict, found.correct, found.integrity) == ("failed", True, False)


def test_a_replay_is_recorded_as_one(tmp_path):
    assert again(tmp_path, FakeDevice(), replayed=True).device == "recorded"


def test_a_job_that_cannot_be_carried_out_records_nothing(tmp_path):
    class Broken(FakeDevice):
        def submit(self, job):
            future = Future()
            future.set_result(Result(job_key=job.key, kind="probe", failure="no GPU here"))
            return future

    with pytest.raises(MeasurementError, match="no GPU here"):
        again(tmp_path, Broken())


@pytest.fixture
def run(tmp_path):
    """A run with two versions, the second of which is faster."""
    builder = Builder(tmp_path / "run", home=tmp_path / "home")
    builder.version(0)
    builder.passed(0)
    builder.version(1)
    folder = builder.run
    state = folder.state()
    bench = folder.read(folder.version(1).bench, Bench)
    row = bench.comparison(bench.source_sha256, state.baseline_sha256)
    best = msgspec.structs.replace(state.version(1), speedup_v0=row.ratio,
                                   speedup_v0_low=row.low, speedup_v0_high=row.high)  # fmt: skip
    own = bench.own().median_ns
    folder.save_state(
        msgspec.structs.replace(with_version(state, best), best_version=1, best_ns=own)
    )
    builder.close()
    return tmp_path / "run"


def test_a_run_is_packed_with_its_claim(run, kbs, tmp_path):
    one, two = tmp_path / "one.zip", tmp_path / "two.zip"
    ran = kbs("--json", "capsule", run, "--output", one, at=tmp_path / "home")
    assert ran.code == 0, ran.err
    entry = json.loads((run / "state.json").read_text())["versions"][1]
    names = {"ratio": "speedup_v0", "low": "speedup_v0_low", "high": "speedup_v0_high"}
    assert ran.json["claim"] == {key: entry[name] for key, name in names.items()}
    assert kbs("capsule", run, "--output", two, at=tmp_path / "home").code == 0
    assert one.read_bytes() == two.read_bytes()
    opened = unpack(one.read_bytes(), "one")
    assert opened.manifest.methods == ("vectorized_access",)
    assert (run / "v1" / "kernel.py").read_bytes() in opened.files.values()


def failure(folder, *arguments):
    """What a command ends with, on a home of its own."""
    ran = CliRunner().invoke(cli, ["--home", str(folder / "none"), *map(str, arguments)])
    assert isinstance(ran.exception, KbsError), ran.output
    return ran.exception


def _state(run, **fields):
    state = json.loads((run / "state.json").read_text())
    state["versions"][1].update(fields)
    (run / "state.json").write_text(json.dumps(state))


def _sample(run):
    bench = json.loads((run / "v1/bench.json").read_text())
    bench["blocks"][0]["value"]["arms"][0]["samples_ns"][0] = 1.0
    (run / "v1/bench.json").write_text(json.dumps(bench))


def _dims(run):
    state = json.loads((run / "state.json").read_text())
    state["settings"]["dims"] = {"n": 8}
    (run / "state.json").write_text(json.dumps(state))


@pytest.mark.parametrize(
    ("tamper", "told"),
    thinned(
        [
            (lambda run: (run / "v1/kernel.py").write_text("x = 1\n"), "v1/kernel.py: was changed"),
            (lambda run: (run / "v0/kernel.py").write_text("x = 1\n"), "v0/kernel.py: was changed"),
            (lambda run: (run / "ref.py").write_text("x = 1\n"), "ref.py: was changed"),
            (lambda run: (run / "v1/kernel.py").unlink(), "v1/kernel.py: was written in this run"),
            (
                lambda run: (run / "v1/bench.json").unlink(),
                "v1/bench.json: was written in this run",
            ),
            (lambda run: _state(run, speedup_v0=99.0), "speedup_v0 of v1 is 99"),
            (lambda run: _state(run, speedup_v0_low=98.0), "speedup_v0_low of v1 is 98"),
            (lambda run: _state(run, speedup_v0_high=100.0), "speedup_v0_high of v1 is 100"),
            (lambda run: _state(run, median_ns=1.0), "median_ns of v1 is 1"),
            (_sample, "raw time samples were changed"),
            (_dims, "dims of epoch 0 is not what the journal recorded"),
            (lambda run: (run / "events.jsonl").unlink(), "journal"),
        ],
        2,
    ),
)
def test_nothing_that_was_edited_is_packed(run, tmp_path, tamper, told):
    copied = tmp_path / "copied"  # another place: no home folder knows its journal
    shutil.copytree(run, copied)
    tamper(copied)
    refused = failure(tmp_path, "capsule", copied, "--output", tmp_path / "c.zip")
    assert refused.exit_code == 1
    assert "does not prove its claim" in refused.message
    assert told in refused.message
    assert not (tmp_path / "c.zip").exists()


def test_a_run_that_found_nothing_faster_has_no_claim(tmp_path):
    builder = Builder(tmp_path / "run", home=tmp_path / "home")
    builder.version(0)
    builder.close()
    with RunFolder.open(tmp_path / "run") as folder, pytest.raises(RefusedError, match="no claim"):
        capsule_of_run(folder)


def test_the_commands_tell_what_is_wrong(kbs, tmp_path):
    (tmp_path / "junk.zip").write_bytes(b"PK\x03\x04junk")
    for arguments, told in (
        (("replicate", tmp_path / "junk.zip", "--device", "host"), "is no capsule"),
        (("replicate", tmp_path / "none.zip"), "cannot be read"),
        (("capsule", tmp_path / "none"), "no run stands here"),
    ):
        ran = kbs(*arguments, at=tmp_path / "home")
        assert ran.code == 2
        assert told in ran.err


@pytest.mark.sweep
def test_a_host_measures_a_capsule_and_what_it_says_counts_for_nothing(kbs, home, tmp_path):
    """The real device end to end: the champion is v0 with a comment, so the claim must fall."""
    mine = tmp_path / "mine"
    shutil.copytree(home, mine)
    files = {
        "ref.py": texts.REFERENCE.encode(),
        "v0/kernel.py": texts.kernel().encode(),
        "v1/kernel.py": (texts.kernel() + "\n# the same\n").encode(),
    }
    shas = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    v0, champion = (
        SourceRef(sha256=shas[name], language="triton", name="kernel.py")
        for name in ("v0/kernel.py", "v1/kernel.py")
    )
    files["v1/methods.json"] = as_json(msgspec.structs.replace(HELD, version=1))
    shas["v1/methods.json"] = hashlib.sha256(files["v1/methods.json"]).hexdigest()
    task = Task(reference_sha256=shas["ref.py"], dims={"n": 4096}, setup=v0)
    timing = TimingSettings(method="host_time", trials=8, warmup_ms=1.0)
    bench = msgspec.structs.replace(bench_of(champion, v0, task, timing, rounds=5), version=1)
    files["v1/bench.json"] = as_json(bench)
    shas["v1/bench.json"] = hashlib.sha256(files["v1/bench.json"]).hexdigest()
    manifest = msgspec.structs.replace(
        CAPSULE, files=shas, version=1, v0=v0, champion=champion, check_rounds=5,
        task=task, timing=timing, claim=claim_of(bench),
    )  # fmt: skip
    path = tmp_path / "claim.zip"
    path.write_bytes(pack(manifest, files))
    ran = kbs("--json", "replicate", path, "--device", "host", at=mine)
    assert ran.code == 1, ran.err
    assert (ran.json["verdict"], ran.json["device"]) == ("not replicated", "host")
    assert ran.json["correct"]
    assert kbs("--json", "experience", "stats", at=mine).json["replications"] == {
        "not replicated": 1
    }
