"""Ways to cheat, each as a function on a run folder, with the rule that must refuse it."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path


def edit(path: Path, change) -> None:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text, f"{old!r} is not in {path}"
    path.write_text(text.replace(old, new))


def edited_sample(run: Path) -> None:
    def change(bench):
        samples = bench["blocks"][0]["value"]["arms"][0]["samples_ns"]
        samples[:] = [value * 0.9 for value in samples]

    edit(run / "v1/bench.json", change)


def edited_median(run: Path) -> None:
    edit(run / "v1/bench.json", lambda b: b["arms"][0].update(median_ns=50_000.0))


def edited_ratio(run: Path) -> None:
    edit(run / "v1/bench.json", lambda b: b["comparisons"][0].update(ratio=3.0))


def edited_branch(run: Path) -> None:
    edit(run / "v1/branches/b1/bench.json", lambda b: b["arms"][0].update(median_ns=1.0))


def heading_without_pass(run: Path) -> None:
    (run / "v1/correctness.md").write_text("# Correctness of v1\n\n## Rounds\n")


def hidden_failure(run: Path) -> None:
    def change(bench):
        row = bench["checks"][0]["value"]["rounds"][0]
        row["ok"] = False
        bench["checks"][0]["value"].update(passed=False, reason="values")

    edit(run / "v1/bench.json", change)


def other_profile(run: Path) -> None:
    v0 = json.loads((run / "v0/ncu_top.json").read_text())
    edit(run / "v1/ncu_top.json", lambda top: top.update(profile=v0["profile"]))


def other_report(run: Path) -> None:
    (run / "v1/profile.ncu-rep").write_bytes(b"another report")


def other_source_profiled(run: Path) -> None:
    edit(run / "v1/ncu_top.json", lambda top: top.update(source_sha256="0" * 64))


def later_version(run: Path) -> None:
    (run / "v2").mkdir()
    (run / "v2/kernel.py").write_text("x = 1\n")


def unresolvable_citation(run: Path) -> None:
    replace(run / "v1/kbs_evidence.md", "vectorized_access.md:L1", "no_such_method.md:L7")


def unresolvable_hypothesis(run: Path) -> None:
    replace(run / "v1/hypothesis.txt", "vectorized_access.md:L1", "no_such_method.md:L7")


def uncited_spec(run: Path) -> None:
    replace(run / "v1/analysis.md", "# Analysis of v1", "# Analysis of v1\n\n"
            "The H100 has a peak memory bandwidth of 3.35 TB/s.\n")  # fmt: skip


def wrong_spec(run: Path) -> None:
    replace(run / "v1/analysis.md", "# Analysis of v1", "# Analysis of v1\n\nH100 SXM memory "
            "bandwidth: 9.9 TB/s <- gpu-wiki/hardware/nvidia/h100_sxm.md:L20\n")  # fmt: skip


def unchanged_kernel(run: Path) -> None:
    (run / "v1/kernel.py").write_text((run / "v0/kernel.py").read_text())


def edited_kernel(run: Path) -> None:
    with (run / "v1/kernel.py").open("a") as file:
        file.write("# faster now\n")


def changed_tolerance(run: Path) -> None:
    edit(run / "state.json", lambda state: state["settings"].update(rtol=0.5))


def changed_dims(run: Path) -> None:
    def change(state):
        state["settings"]["dims"] = {"n": 8}
        state["epochs"][0]["settings"]["dims"] = {"n": 8}

    edit(run / "state.json", change)


def broken_chain(run: Path) -> None:
    lines = (run / "events.jsonl").read_text().splitlines()
    lines[5] = lines[5].replace('"kind":"', '"kind":"not_')
    (run / "events.jsonl").write_text("\n".join(lines) + "\n")


def removed_event(run: Path) -> None:
    lines = (run / "events.jsonl").read_text().splitlines()
    (run / "events.jsonl").write_text("\n".join(lines[:4] + lines[5:]) + "\n")


def budget_overrun(run: Path) -> None:
    def change(request):
        extra = [{**request["plan"]["methods"][0], "method": f"m{i}"} for i in range(1)]
        request["plan"]["methods"] += extra
        request["plan"]["axis_slots"]["latency"] = 2

    edit(run / "v1/request.json", change)


def method_nobody_planned(run: Path) -> None:
    def change(methods):
        methods["methods"] += [{**methods["methods"][0], "method": "split_k", "rank": 2}]

    edit(run / "v1/methods.json", change)


def silent_skip(run: Path) -> None:
    edit(run / "v1/request.json", lambda request: request["plan"].update(skipped=[]))


def silent_skip_in_methods(run: Path) -> None:
    def change(methods):
        methods["ranking"].insert(0, {"method": "split_k", "axis": "memory", "score": 0.9})

    edit(run / "v1/methods.json", change)


def missing_artifact(run: Path) -> None:
    (run / "v1/roofline.json").unlink()


def empty_artifact(run: Path) -> None:
    (run / "v1/analysis.md").write_text("\n")


def unreadable_artifact(run: Path) -> None:
    (run / "v1/methods.json").write_text('{"version": ')


def missing_heading(run: Path) -> None:
    replace(run / "v1/hypothesis.txt", "## Decision rule", "## Afterthought")


def empty_heading(run: Path) -> None:
    replace(run / "v1/hypothesis.txt", "## Risk\ntails\n", "## Risk\n")


def no_bottleneck_query(run: Path) -> None:
    replace(run / "v1/kbs_evidence.md", "- [bottleneck] uncoalesced loads => 5 passages\n", "")


def effect_without_ablation(run: Path) -> None:
    edit(run / "v1/attribution.json", lambda a: a["variants"][0].update(ratio=9.0))


def effective_without_effect(run: Path) -> None:
    edit(run / "v1/attribution.json", lambda a: a["methods"][0].update(low=-0.1))


def verdict_of_another_cell(run: Path) -> None:
    edit(run / "v1/attribution.json", lambda a: a["methods"][0].update(attribution="within noise"))


def opcodes_overruled(run: Path) -> None:
    edit(run / "v1/sass_check.json", lambda s: s["methods"][0].update(outcome="refuted"))


def opcodes_invented(run: Path) -> None:
    edit(run / "v1/sass_check.json", lambda s: s["methods"][0].update(functions=[]))


def near_peak_invented(run: Path) -> None:
    edit(run / "v1/roofline.json", lambda line: line.update(near_peak=True))


def headline_invented(run: Path) -> None:
    edit(run / "state.json", lambda state: state["versions"][1].update(median_ns=1.0))


def lenient_state(run: Path) -> None:
    edit(run / "state.json", lambda state: state.update(tolerance={"atol": 9.0, "rtol": 9.0}))


def memory_of_nothing(run: Path) -> None:
    (run / "memory/v7.json").write_text((run / "memory/v1.json").read_text().replace(
        '"version": 1', '"version": 7'))  # fmt: skip


def best_invented(run: Path) -> None:
    edit(run / "state.json", lambda state: state.update(best_version=0, best_ns=1.0))


def gain_invented(run: Path) -> None:
    edit(run / "v1/attribution.json", lambda a: a["methods"][0].update(gain=0.9))


def p_value_invented(run: Path) -> None:
    edit(run / "v1/attribution.json", lambda a: a["methods"][0].update(p_holm=1e-9))


def total_invented(run: Path) -> None:
    edit(run / "v1/attribution.json", lambda a: a.update(total=0.9))


def interaction_invented(run: Path) -> None:
    row = {"methods": ["vectorized_access", "split_k"], "value": 1.0, "low": 0.5, "high": 1.5}
    edit(run / "v1/attribution.json", lambda a: a.update(interactions=[row]))


def other_noise(run: Path) -> None:
    edit(run / "v1/attribution.json", lambda a: a.update(noise=0.5))


def branch_record_removed(run: Path) -> None:
    (run / "v1/branches/b1/bench.json").unlink()


def skip_dropped_from_the_plan(run: Path) -> None:
    replace(run / "v1/plan.md", "- not shared_tiling: nothing is reused\n", "")


def analysis_number(run: Path) -> None:
    replace(run / "v1/analysis.md", "Time of the champion: ", "Time of the champion: 1 ns, not ")


def lenient_test(run: Path) -> None:
    (run / "test_kernel.py").write_text("print('PASS')\n")


def other_machine(run: Path) -> None:
    replace(run / "env_check.md", "Test GPU", "Best GPU")


def spec_line_without_citation(run: Path) -> None:
    replace(run / "README.md", "## Hardware Spec\n\n- TBD",
            "## Hardware Spec\n\n- DRAM: 3350 GB/s")  # fmt: skip


def readme_of_other_dims(run: Path) -> None:
    replace(run / "README.md", "n=4096", "n=8")


def readme_unreadable(run: Path) -> None:
    (run / "README.md").write_bytes(b"\xff\xfe\x00")


def memory_invented(run: Path) -> None:
    edit(run / "memory/v1.json", lambda m: m["performance"].update(latency_us=1.0))


def memory_silent(run: Path) -> None:
    edit(run / "memory/v1.json", lambda m: m["performance"].update(latency_us=None))


def memory_boasts(run: Path) -> None:
    said = "faster than v0: 99 times as fast"
    edit(run / "memory/v1.json", lambda m: m["performance"].update(comparison_with_previous=said))


def memory_leaves_a_method_out(run: Path) -> None:
    edit(run / "memory/v1.json", lambda m: m["experience"].update(experiments=[]))


def v0_masked(run: Path) -> None:
    edit(run / "memory/v0.json", lambda m: m.update(masked=True))


def v0_taken_away(run: Path) -> None:
    shutil.rmtree(run / "v0")


def failed_without_failure(run: Path) -> None:
    edit(run / "state.json", lambda state: state["versions"][1].update(status="failed"))


def too_many_tries(run: Path) -> None:
    edit(run / "state.json", lambda state: state["versions"][1].update(tries=9))


def stranger_in_folder(run: Path) -> None:
    (run / "v1/branches/b7").mkdir()
    (run / "v1/branches/b7/kernel.py").write_text("x = 1\n")
    bench = (run / "v1/branches/b1/bench.json").read_text()
    (run / "v1/branches/b7/bench.json").write_text(bench)


def answers_taken_away(run: Path) -> None:
    shutil.rmtree(run / ".kbs/results")


def source_overwritten(run: Path) -> None:
    source = run / "v1/kernel.py"
    (blob,) = (run / ".kbs/blobs").rglob(hashlib.sha256(source.read_bytes()).hexdigest())
    blob.write_text("x = 1\n")


WRONG = {
    answers_taken_away: ("answers", "answers of finished jobs are gone or changed"),
    source_overwritten: ("answers", "does not have the hash of its name"),
    edited_sample: ("raw_samples", "samples were changed"),
    edited_median: ("numbers", "median_ns"),
    edited_ratio: ("numbers", "ratio"),
    edited_branch: ("unedited", "was changed after it was written"),
    heading_without_pass: ("correctness", "no PASS verdict"),
    hidden_failure: ("correctness", "did not pass"),
    other_profile: ("same_source", "the profile is of another source"),
    other_report: ("same_source", "is not the report"),
    other_source_profiled: ("same_source", "profiled was"),
    later_version: ("later_version", "before v1 has passed"),
    unresolvable_citation: ("evidence", "does not resolve"),
    unresolvable_hypothesis: ("hypothesis", "does not resolve"),
    uncited_spec: ("citations", "without a citation"),
    wrong_spec: ("citations", "wrong value"),
    unchanged_kernel: ("changed_kernel", "byte for byte"),
    edited_kernel: ("same_source", "the kernel here is"),
    changed_tolerance: ("fixed_settings", "rtol of epoch 0"),
    changed_dims: ("fixed_settings", "a job ran with dims"),
    broken_chain: ("journal_chain", "was changed after the fact"),
    removed_event: ("journal_chain", "removed, added or moved"),
    budget_overrun: ("plan_budget", "2 methods on axis latency"),
    method_nobody_planned: ("plan_budget", "plan does not"),
    silent_skip: ("skips", "without a reason"),
    silent_skip_in_methods: ("skips", "without a reason"),
    missing_artifact: ("artifacts", "is missing"),
    empty_artifact: ("artifacts", "is empty"),
    unreadable_artifact: ("artifacts", "is no MethodsFile record"),
    missing_heading: ("hypothesis", "lacks the heading Decision rule"),
    empty_heading: ("hypothesis", "nothing stands under 'Risk'"),
    no_bottleneck_query: ("evidence", "nothing about the bottleneck"),
    effect_without_ablation: ("attribution", "ratio of no_vectorized_access"),
    effective_without_effect: ("attribution", "does not lie above zero"),
    verdict_of_another_cell: ("attribution", "is called effective"),
    opcodes_overruled: ("attribution", "sass_check.json says refuted"),
    opcodes_invented: ("opcodes", "names no function"),
    near_peak_invented: ("roofline_numbers", "neither its model nor its limiter"),
    headline_invented: ("state_numbers", "median_ns of v1"),
    lenient_state: ("state_numbers", "names the tolerance atol 9, rtol 9"),
    memory_of_nothing: ("state_numbers", "version that the run does not have"),
    best_invented: ("state_numbers", "best_ns is 1"),
    gain_invented: ("attribution", "gain of vectorized_access is stated as 0.9"),
    p_value_invented: ("attribution", "p_holm of vectorized_access"),
    total_invented: ("attribution", "total is stated as 0.9"),
    interaction_invented: ("attribution", "interaction of split_k+vectorized_access"),
    other_noise: ("attribution", "counts 0.5 as noise"),
    branch_record_removed: ("unedited", "was written in this run and is gone"),
    skip_dropped_from_the_plan: ("skips", "what became of shared_tiling"),
    analysis_number: ("reports", "Time of the champion: 1 ns"),
    lenient_test: ("unedited", "was changed after it was written"),
    other_machine: ("unedited", "was changed after it was written"),
    spec_line_without_citation: ("citations", "states a spec without a citation"),
    readme_of_other_dims: ("reports", "n=8"),
    readme_unreadable: ("artifacts", "UTF-8"),
    memory_invented: ("state_numbers", "says 1 µs"),
    memory_silent: ("state_numbers", "says no time"),
    memory_boasts: ("state_numbers", "no such comparison"),
    memory_leaves_a_method_out: ("state_numbers", "says nothing of vectorized_access"),
    v0_masked: ("state_numbers", "is masked"),
    v0_taken_away: ("artifacts", "is gone"),
    failed_without_failure: ("failed_version", "b0 is correct"),
    too_many_tries: ("failed_version", "was tried 9 times"),
    stranger_in_folder: ("unedited", "the journal does not know this file"),
}
"""Each way to cheat with the rule that must refuse it and words of the reason."""

AT_THE_END = frozenset({
    memory_of_nothing, best_invented, analysis_number, lenient_test, other_machine,
    spec_line_without_citation, readme_of_other_dims, readme_unreadable, v0_taken_away, v0_masked,
})  # fmt: skip
"""What the gate on v1 does not ask, for it is of v0 or of the end."""
