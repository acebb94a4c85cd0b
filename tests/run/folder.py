"""Builds run folders through RunFolder, step by step as the loop does."""

from __future__ import annotations

from pathlib import Path

from kbs_engine.gate import pass_version
from kbs_engine.jobs import BaselineRef, Check, ProfileJob, SourceRef, Task, Time, TimingSettings
from kbs_engine.reports import (
    baseline_report,
    correctness,
    env_check,
    standalone_test,
    workspace_readme,
)
from kbs_engine.reports.analysis import version_analysis
from kbs_engine.results import Machine
from kbs_engine.run import RunFolder
from kbs_engine.run.benches import build_bench
from kbs_engine.run.files import sha256_of
from kbs_engine.run.markdown import evidence_text, hypothesis_text, plan_text
from kbs_engine.run.memories import Memory
from kbs_engine.run.records import (
    Correctness,
    Env,
    EnvFinding,
    Epoch,
    Experience,
    Experiment,
    MemoryRecord,
    Performance,
    Settings,
    State,
    VersionEntry,
    with_version,
)
from kbs_engine.run.view import read_run, read_version
from tests.run import answers, judgements, texts

SETTINGS = {
    "language": "triton",
    "dims": {"n": 4096},
    "kernel_suffix": ".py",
    "gpu": "Test GPU",
    "gpu_uuid": "GPU-test",
    "arch": "sm_90a",
    "timing": TimingSettings(trials=21),
}


class Builder:
    """One run in the making."""

    def __init__(self, root: Path, *, home: Path | None = None, **changes):
        settings = Settings(**{**SETTINGS, **changes})
        self.sources = {0: texts.kernel()}
        state = State(
            run_id="r1",
            name="scale",
            created_at="2025-01-01T00:00:00Z",
            settings=settings,
            epochs=(Epoch(number=0, first_version=0, settings=settings),),
            reference_sha256=sha256_of(texts.REFERENCE),
            baseline_sha256=sha256_of(self.sources[0]),
            baseline_file="scale.py",
        )
        self.home = home
        self.run = RunFolder.create(
            root, state, reference=texts.REFERENCE, baseline=self.sources[0], home=home
        )
        self.settings = settings
        self.block = 0

    # jobs

    @property
    def task(self) -> Task:
        s = self.settings
        return Task(
            reference_sha256=sha256_of(texts.REFERENCE),
            dims=s.dims,
            atol=s.atol,
            rtol=s.rtol,
            outputs=s.outputs,
            ptr_size=s.ptr_size,
            permitted=s.permitted,
            setup=self.ref(self.sources[0]),
        )

    def ref(self, text: str) -> SourceRef:
        self.run.blobs.put(text)
        return SourceRef(
            sha256=sha256_of(text),
            language="triton",
            name="kernel.py",
            switches={"vectorized_access": text != self.sources[0]},
        )

    def done(self, job, make, **options):
        self.run.job_started(job)
        result = make(job, **options)
        self.run.job_finished(job, result)
        return result

    def check(self, text: str, **options):
        job = Check(source=self.ref(text), task=self.task, rounds=self.settings.check_rounds)
        before = self.run.finished(job)
        return before or self.done(job, answers.checked, **options)

    def time(self, *arms, pairs=3):
        self.block += 1
        job = Time(
            arms=arms,
            task=self.task,
            settings=self.settings.timing,
            block=self.block,
            fresh_processes=pairs,
        )
        return self.done(job, answers.timed)

    # versions

    def version(self, number: int, *, text: str | None = None, methods=None):
        """Everything of one version but its gate."""
        text = text or (self.sources[0] if number == 0 else texts.kernel(vector=True, block=256))
        self.sources[number] = text
        sha = sha256_of(text)
        answers.SPEED[sha] = 100_000.0 / (1 + 0.5 * number)
        if number:
            self._branches(number, text)
            self.run.write_text(self.paths(number).kernel(".py"), text)
        self._measure(number, text)
        if number:
            judgements.verify(self, number, methods)
        judgements.diagnose(self, number)
        self.notes(number)
        self.finish(number)

    def paths(self, number: int):
        return self.run.version(number)

    def _branches(self, number: int, champion: str):
        for place, block in enumerate((256, 128)):
            text = champion if place == 0 else texts.kernel(vector=True, block=block)
            part = self.paths(number).branch(place)
            self.run.write_text(part.kernel(".py"), text)
            bench = build_bench(
                version=number,
                name=f"b{place}",
                source_sha256=sha256_of(text),
                checks=(self.check(text),),
                blocks=(self.time(self.ref(text), self.ref(self.sources[0]), pairs=1),),
                settings=self.settings.timing,
                noise=self.settings.noise,
                tunables={"BLOCK": block},
            )
            self.run.write(part.bench, bench)

    def _measure(self, number: int, text: str):
        arms = [self.ref(text)]
        if number:
            arms.append(self.ref(self.sources[0]))
        arms.append(BaselineRef(name="pytorch-eager"))
        bench = build_bench(
            version=number,
            name="champion",
            source_sha256=sha256_of(text),
            checks=(self.check(text),),
            blocks=(self.time(*arms, pairs=self.settings.process_pairs),),
            settings=self.settings.timing,
            noise=self.settings.noise,
            switches={"vectorized_access": number > 0},
        )
        self.run.write(self.paths(number).bench, bench)
        self.run.write_text(self.paths(number).correctness, correctness(bench, "kernel.py"))

    def profile(self, number: int):
        if self.settings.mode != "counters":
            return None
        job = ProfileJob(source=self.ref(self.sources[number]), task=self.task)
        result = self.done(job, answers.profiled)
        self.run.write_text(self.paths(number).profile, answers.REPORT)
        return result

    def notes(self, number: int):
        paths = self.paths(number)
        self.run.write_text(paths.evidence, evidence_text(texts.evidence(number)))
        request = judgements.request(self, number)
        action = [row.method for row in request.plan.methods]
        action += [f"not {row.method}: {row.reason}" for row in request.plan.skipped]
        self.run.write_text(paths.plan, plan_text(texts.plan(number, *action)))
        self.run.write_text(paths.hypothesis, hypothesis_text(texts.hypothesis(number)))
        self.run.write(paths.request, request)

    def finish(self, number: int):
        """State, memory, what was learned, and the reports of the run's beginning."""
        state = self.run.state()
        view = read_version(self.run, number, state)
        own = view.bench.own()
        entry = VersionEntry(
            version=number,
            base_version=None if number == 0 else 0,
            status="accepted",
            sha256=view.bench.source_sha256,
            median_ns=own.median_ns,
            methods=("vectorized_access",) if number else (),
            tries=1,
        )
        self.run.save_state(with_version(state, entry))
        self._remember(number, own.median_ns, view.attribution)
        self.run.write_text(self.paths(number).analysis, version_analysis(read_run(self.run), view))
        if number == 0:
            self._beginning()

    def _remember(self, number: int, median_ns: float, attributed):
        told = tuple(
            Experiment(method=row.method, verdict=row.verdict, gain=row.gain, gain_low=row.low,
                       gain_high=row.high)
            for row in (attributed.methods if attributed else ())
        )  # fmt: skip
        memory = Memory(self.run.paths.memory)
        memory.init()
        memory.create(
            MemoryRecord(
                version=number,
                performance=Performance(latency_us=median_ns / 1e3),
                correctness=Correctness(rel_err=1e-4, status="PASS"),
                experience=Experience(experiments=told),
            )
        )

    def _beginning(self):
        paths = self.run.paths
        env = Env(
            date="2025-01-01",
            machine=Machine(device="cuda", gpu="Test GPU", gpu_uuid="GPU-test"),
            findings=(EnvFinding(part="gpu", state="ok", required=True),),
        )
        self.run.write(paths.env, env)
        self.run.write_text(paths.env_check, env_check(env))
        self.run.write_text(paths.readme, workspace_readme(self.run.state()))
        self.run.write_text(paths.test_kernel, standalone_test(self.settings))
        self.run.write_text(paths.baseline_report, baseline_report(read_run(self.run)) or "")

    def passed(self, number: int, **options):
        refusals = pass_version(self.run, number, **options)
        assert not refusals, "\n".join(map(str, refusals))

    def close(self):
        self.run.close()
