"""`kbs optimize` may start a branch from a template, and says so: algorithmic_replacement."""

from __future__ import annotations

import msgspec
import pytest

from kbs.looping.beginning import RunOptions, begin
from kbs.looping.running import Wiring, wired
from kbs.measuring.options import TaskOptions
from kbs_backends.rewrites import all_rewrites
from kbs_engine.loop.actions import Begin
from kbs_engine.loop.asks import Advise, Propose
from kbs_engine.loop.planning import Planning, make_plan
from kbs_engine.results import Machine
from kbs_engine.run.records import Budget, Contract, RequestFile
from tests.cases.case_list import case_studies
from tests.conftest import WIKI

METHOD = "algorithmic_replacement"
MACHINE = Machine(device="host", gpu="a CPU", counters=False, counters_why_not="no GPU")
CASES = {case.id: case for case in case_studies()}


@pytest.fixture
def opened(tmp_path):
    """A run of a case study on the host, and what answers its questions."""
    runs = []

    def make(name: str, *, permitted=(), **options):
        case = CASES[name]
        run = begin(
            case.source,
            TaskOptions(
                reference=case.reference,
                dims=case.small,
                language=case.language,
                permitted=permitted,
            ),
            RunOptions(output=tmp_path / "run", device="host", knowledge=False, **options),
        )
        runs.append(run)
        settings = run.state().settings
        world = wired(run, settings, Wiring(home=None, roots=(WIKI,), remember=False))
        return run, settings, world

    yield make
    for run in runs:
        run.close()


def advised(run, settings, world, *, applied=()):
    event = run.journal.of_kind("loop_begun")[0]
    source = msgspec.convert(event.data["begin"], Begin).baseline
    ask = Advise(
        version=0, source=source, settings=settings, machine=MACHINE, counted=None, profile=None,
        time_ns=1e6, applied=applied, as_of="2026-01-05",
    )  # fmt: skip
    return source, world.answer(ask)


def test_without_knowledge_rewrites_are_offered_in_the_order_of_their_names(opened):
    run, settings, world = opened("softmax_triton", templates=False)
    _, advice = advised(run, settings, world, applied=("exp2_rescaling",))
    assert advice.ranked == ()
    tunables, *rewrites = [row.method for row in advice.offered]
    assert tunables == "launch_parameter_tuning"
    assert rewrites == sorted(set(all_rewrites("triton")) - {tunables, "exp2_rescaling"})
    assert "row_in_registers" not in advice.unwritable
    assert advice.unwritable["split_k"].startswith("its rewrite does not apply: ")


def proposed(settings, world, source, advice):
    plan, _ = make_plan(Planning(ranked=advice.ranked, excluded=advice.unwritable))
    request = RequestFile(
        run_id="run", version=0, next_version=1, base_version=0, base_file="v0/kernel.py",
        base_sha256=source.sha256, budget=Budget(slots=3, axis_slots=plan.axis_slots), plan=plan,
        contract=Contract(language=settings.language, entry="run_kernel", rules=(), dims={}),
    )  # fmt: skip
    return plan, world.answer(Propose(file=request, base=source)).candidates


@pytest.mark.parametrize(
    ("case", "template"),
    [
        ("softmax_triton", "softmax_rows_triton"),
        ("rmsnorm_bf16_triton", "rmsnorm_rows_triton"),
        ("softmax_cuda", "softmax_rows_cuda"),
    ],
)
def test_a_branch_starts_from_a_template_and_is_labelled_so(opened, case, template):
    run, settings, world = opened(case)
    source, advice = advised(run, settings, world)
    row = advice.ranked[0]
    assert (row.method, row.title) == (METHOD, f"Start from template {template}")
    plan, candidates = proposed(settings, world, source, advice)
    assert METHOD in [one.method for one in plan.methods]
    mine = [one for one in candidates if one.template]
    assert [one.template for one in mine] == [template]
    assert mine[0].methods == (METHOD,)
    assert mine[0].source.sha256 != source.sha256
    assert mine[0].source.tunables
    text = run.blobs.text(mine[0].source.sha256)
    assert ("solve(" if case.endswith("cuda") else "def run_kernel(") in text


@pytest.mark.parametrize(
    ("case", "on", "more"),
    [
        ("gemm_cuda_fp32", False, []),
        ("gemm_cuda_tf32", True, ["matmul_tensor_hopper_cutlass"]),
    ],
)
def test_a_template_uses_tf32_exactly_where_the_task_permits_it(opened, case, on, more):
    run, settings, world = opened(case, permitted=CASES[case].permit)
    source, advice = advised(run, settings, world)
    _, candidates = proposed(settings, world, source, advice)
    mine = [one for one in candidates if one.template]
    names = ["matmul_tensor_cutlass", *more, "matmul_tiled_cuda"]
    assert [one.template for one in mine] == names
    assert mine[0].source.switches["tf32_precision"] is on
    titles = [row.title for row in advice.ranked if row.method == METHOD]
    assert titles == [f"Start from {' or '.join(f'template {name}' for name in names)}"]


def test_no_template_where_they_are_switched_off_or_one_is_in_already(opened):
    run, settings, world = opened("softmax_triton", templates=False)
    _, advice = advised(run, settings, world)
    assert METHOD not in [
        row.method for row in advice.ranked if row.method not in advice.unwritable
    ]


def test_a_version_that_started_from_a_template_is_offered_none_again(opened):
    run, settings, world = opened("softmax_triton")
    _, advice = advised(run, settings, world, applied=(METHOD,))
    assert METHOD not in [row.method for row in advice.ranked]


def test_where_none_fits_none_is_ranked(opened):
    run, settings, world = opened("softmax_triton")
    world.proposer.template = lambda: ()
    _, advice = advised(run, settings, world)
    assert not [row.title for row in advice.ranked if row.title.startswith("Start from")]
