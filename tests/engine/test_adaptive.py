"""The plans of both passes and their command lines, as functions of what is known."""

from __future__ import annotations

import msgspec
import pytest

from kbs_engine.adaptive import (
    DURATION,
    FIRST_SECTIONS,
    ProfilePlan,
    first_pass,
    ncu_command,
    second_pass,
    vendor_names,
    widest_pass,
)
from kbs_engine.diagnose import Subject, diagnose
from kbs_engine.errors import UsageError
from kbs_engine.metrics import MetricRule
from kbs_engine.passes import without_held
from kbs_ingest.readers import read_report
from kbs_ingest.work_file import find_work_file, read_work
from tests.conftest import REPORT, ROOT

CHIPS = {"tu102": 75, "ga100": 80, "ad102": 89, "gh100": 90, "gb100": 100, "gb202": 120}
TARGET = ["python", "kernel.py"]


@pytest.fixture(scope="module")
def metric_map(store):
    return store.metric_map("nvidia")


@pytest.fixture(scope="module")
def subjects(metric_map):
    work = read_work(find_work_file(REPORT))
    return [
        Subject(profile=one, work=work.for_launch(one.launch, one.name))
        for one in read_report(REPORT, metric_map).profiles
    ]


def seen(subject, metric_map, plans):
    """The subject as a report of these passes would show it."""
    sections = {name for plan in plans for name in plan.sections}
    names = {name for plan in plans for name in plan.metrics}
    kept = {}
    for canonical, value in subject.profile.metrics.items():
        rule = metric_map.metrics.get(canonical)
        asked = vendor_names(rule, 90) if rule else None
        if rule and (rule.section in sections or (asked and set(asked) <= names)):
            kept[canonical] = value
    return msgspec.structs.replace(
        subject, profile=msgspec.structs.replace(subject.profile, metrics=kept)
    )


def test_the_first_pass_is_the_basic_set():
    plan = first_pass()
    assert plan.sections == FIRST_SECTIONS
    assert plan.metrics == ()
    assert not plan.empty


@pytest.mark.parametrize("number", range(5))
def test_two_passes_find_the_cause_that_the_full_report_shows(subjects, store, metric_map, number):
    subject = subjects[number]
    full = diagnose([subject], store)[0].diagnosis
    first = diagnose([seen(subject, metric_map, [first_pass()])], store)[0].diagnosis
    plan = second_pass(first, store.rules(), metric_map, arch=90)
    both = seen(subject, metric_map, [first_pass(), plan])
    found = diagnose([both], store)[0].diagnosis
    if first.near_peak:
        assert plan.empty
        return
    assert [cause.id for cause in found.causes[:1]] == [cause.id for cause in full.causes[:1]]
    assert len(plan.metrics) < 60


def test_a_kernel_near_its_peak_needs_no_second_pass(subjects, store, metric_map):
    first = diagnose([seen(subjects[0], metric_map, [first_pass()])], store)[0].diagnosis
    plan = second_pass(first, store.rules(), metric_map, arch=90)
    assert first.near_peak
    assert plan.empty
    assert plan.reasons[0].startswith("near peak")


def test_only_axes_on_which_the_cause_may_lie_are_asked(subjects, store, metric_map):
    first = diagnose([seen(subjects[1], metric_map, [first_pass()])], store)[0].diagnosis
    assert first.limiter == "l1"
    plan = second_pass(first, store.rules(), metric_map, arch=90)
    assert not any("xu" in name or "fp64" in name for name in plan.metrics)
    assert any("bank_conflicts" in name for name in plan.metrics)
    assert DURATION in plan.metrics
    assert not any("stalled" in name for name in plan.metrics)


def test_what_was_measured_is_not_asked_again(subjects, store, metric_map):
    full = diagnose([subjects[1]], store)[0].diagnosis
    plan = second_pass(full, store.rules(), metric_map, arch=90)
    asked = {name for rule in full.not_measurable for name in rule.needs}
    assert all(need[2:] not in full.metrics for need in asked if need.startswith("p."))
    lacking = {
        name
        for canonical in metric_map.metrics.keys() - full.metrics.keys()
        for name in vendor_names(metric_map.metrics[canonical], 90) or ()
    }
    assert set(plan.metrics) <= lacking | {DURATION}


def test_without_a_known_chip_whole_sections_are_collected(subjects, store, metric_map):
    first = diagnose([seen(subjects[1], metric_map, [first_pass()])], store)[0].diagnosis
    plan = second_pass(first, store.rules(), metric_map)
    assert "MemoryWorkloadAnalysis_Tables" in plan.sections
    assert plan.metrics == (DURATION,)


def known_names():
    """Base names by chip, as ncu itself lists them."""
    text = (ROOT / "tests/data/ncu/query_metrics_2025_3.txt").read_text(encoding="utf-8")
    found, chip = {}, None
    for line in text.splitlines():
        if line.startswith("["):
            chip = line.strip("[]")
            found[chip] = set()
        elif line and not line.startswith("#"):
            found[chip].add(line)
    return found


@pytest.mark.parametrize("chip", CHIPS)
def test_every_name_asked_for_is_known_to_ncu_on_that_chip(metric_map, chip):
    known = known_names()[chip]
    for rule in metric_map.metrics.values():
        for name in vendor_names(rule, CHIPS[chip]) or ():
            assert name.split(".")[0] in known, name


@pytest.mark.parametrize("chip", CHIPS)
def test_no_counter_of_a_chip_is_passed_over(metric_map, chip):
    known = known_names()[chip]
    for canonical, rule in metric_map.metrics.items():
        if vendor_names(rule, CHIPS[chip]) == ():
            inside = (rule.min_arch or 0) <= CHIPS[chip] <= (rule.max_arch or 999)
            terms = [*([rule.names] if rule.names else []), *rule.sum, *rule.ratio]
            full = terms and all(any(n.split(".")[0] in known for n in term) for term in terms)
            assert not (inside and full), canonical


def test_names_that_only_a_section_yields_are_not_asked_for_by_name():
    for name in ("derived:x", "derived__x", "opcode:HMMA", "launch__grid_size"):
        rule = MetricRule(unit="count", description="d", names=(name,), section="S")
        assert vendor_names(rule, 90) is None


def test_the_command_line_says_what_others_leave_to_defaults():
    plan = ProfilePlan(number=2, sections=("WarpStateStats",), metrics=("a.sum", "b.pct"))
    command = ncu_command(
        plan, TARGET, "out", kernel_regex="my_kernel", launch_skip=2, launch_count=1
    )
    assert command == (
        "ncu", "--config-file", "off", "--clock-control", "none", "--profile-from-start", "off",
        "--target-processes", "all", "--section", "WarpStateStats", "--metrics", "a.sum,b.pct",
        "--kernel-name", "regex:my_kernel", "--launch-skip", "2", "--launch-count", "1",
        "-f", "-o", "out", "python", "kernel.py",
    )  # fmt: skip


def test_options_that_were_not_given_are_not_there():
    command = ncu_command(first_pass(), TARGET, "out")
    assert not {"--metrics", "--kernel-name", "--launch-skip", "--launch-count"} & set(command)


def test_an_empty_plan_and_an_empty_target_are_refused():
    with pytest.raises(UsageError, match="collects nothing"):
        ncu_command(ProfilePlan(number=2), TARGET, "out")
    with pytest.raises(UsageError, match="no program"):
        ncu_command(first_pass(), [], "out")


@pytest.mark.parametrize("arch", CHIPS.values(), ids=CHIPS)
def test_the_widest_pass_holds_every_second_pass(store, metric_map, subjects, arch):
    widest = widest_pass(store.rules(), metric_map, arch=arch)
    assert set(FIRST_SECTIONS) <= set(widest.sections)
    assert len(set(widest.metrics)) == len(widest.metrics)
    assert "MemoryWorkloadAnalysis_Tables" not in widest.sections, "as many passes as all the rest"
    for subject in subjects:
        (item,) = diagnose([seen(subject, metric_map, [first_pass()])], store)
        plan = second_pass(item.diagnosis, store.rules(), metric_map, arch=arch)
        assert without_held(plan, widest.sections, widest.metrics).empty
        assert without_held(plan, (), ()) == plan
        assert plan.empty or without_held(plan, FIRST_SECTIONS, ()) == plan


def test_what_the_widest_pass_asks_for_the_chip_has(store, metric_map):
    names = {arch: widest_pass(store.rules(), metric_map, arch=arch).metrics for arch in (90, 100)}
    assert any("gmma" in name for name in names[90])
    assert not any("gmma" in name for name in names[100])
    asked = {name for rule in metric_map.metrics.values() for name in vendor_names(rule, 90) or ()}
    assert set(names[90]) <= {*asked, DURATION}
