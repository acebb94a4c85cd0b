"""Write the tables of docs/case_studies.md: `python -m tools.case_table [cases.json]`.

What a recording does not hold is said to be not recorded; no figure is made here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from kbs_engine.experience.calibration import Calibrated, calibrate
from kbs_engine.outcomes import Outcome
from kbs_engine.units import human_ns
from tests.cases.case_list import CaseStudy, case_studies
from tests.cases.records import CaseRecord, Factor, Recording, Searched, read_recording
from tools.markdown_table import between, code, table

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "case_studies.md"
RECORDED = ROOT / "tests" / "cases" / "recorded" / "cases.json"
NOT_RECORDED = "not recorded yet"
BUDGET_S = 90
VENDOR_SHARE = 0.9
REWRITES_ALONE = 3.0


def page(text: str, recording: Recording) -> str:
    """The page with every generated part made anew; ValueError for a dry recording."""
    if recording.dry:
        msg = "a dry recording proves the script and holds no figure: record on a GPU"
        raise ValueError(msg)
    parts: dict[str, Callable[[Recording], str]] = {
        "cases": lambda _: cases_table(),
        "commands": commands,
        "speed": speed_table,
        "spent": spent_table,
        "otherwise": otherwise_table,
        "knowledge": knowledge_table,
        "calibration": calibration_table,
        "origin": origin_lines,
    }
    for name, make in parts.items():
        text = between(text, name, make(recording))
    return text


def command(case: CaseStudy) -> str:
    """The one command that repeats a case, at the root of the repository."""
    here = f"{ROOT}/"
    words = [word.removeprefix(here) for word in case.arguments()]
    shown = " ".join(f"'{word}'" if "{" in word else word for word in words)
    return f"kbs optimize {shown} --gpu-seconds {BUDGET_S} -n 4 --trials 40"


def cases_table() -> str:
    """The cases: what is computed, how the kernel begins, bound, vendor library."""
    rows = [
        (f"`{case.id}`", case.title, first_line(case), case.bound, case.vendor.name)
        for case in case_studies()
    ]
    return table(("Case", "Task", "Kernel to begin with", "Bound", "Vendor library"), rows)


def first_line(case: CaseStudy) -> str:
    """What a kernel says of itself in its first line."""
    line = case.source.read_text(encoding="utf-8").splitlines()[0]
    return line.removeprefix("//").strip().strip('"').rstrip(".")


def commands(_: Recording) -> str:
    """The commands, one a case."""
    lines = [f"# {case.id}\n{command(case)}\n" for case in case_studies()]
    return "```\n" + "\n".join(lines) + "```\n"


def speed_table(recording: Recording) -> str:
    """Times and speedups with their intervals, and whether the goal was met."""
    header = ("Case", "v0", "Best", "Over v0", "Over eager", "Over torch.compile", "Over vendor",
              "Known over eager", "Share of roof", "Goal")  # fmt: skip
    return table(header, (_speed(case, recording.cases.get(case.id)) for case in case_studies()))


def _speed(case: CaseStudy, row: CaseRecord | None) -> list[str]:
    known = f"{case.known:g}×" if case.known else ""
    if not _usable(row):
        return [f"`{case.id}`", _absent(row), "", "", "", "", "", known, "", _goal(case, row)]
    assert row is not None
    share = row.roof_share
    return [
        f"`{case.id}`",
        _time(row.v0_ns),
        _time(row.best_ns),
        factor(row.over_v0) if row.best_version else "no better found",
        factor(row.over_eager),
        factor(row.over_compile) or _why(row, "torch-compile"),
        factor(row.over_vendor),
        known,
        f"{100 * share:.0f} %" if share is not None else "",
        _goal(case, row),
    ]


def _goal(case: CaseStudy, row: CaseRecord | None) -> str:
    """The goal of a case in words, and whether a recording meets it."""
    template = row is not None and any(one.startswith("template") for one in row.origin)
    if case.bound == "memory":
        goal = "no slower than the best library"
        rivals = (
            (row.over_eager, row.over_compile, row.over_flashinfer, row.over_vendor) if row else ()
        )
        met = [one.verdict != "slower" for one in rivals if one is not None]
    elif template or row is None or not _usable(row):
        goal = f"{VENDOR_SHARE:g} of the vendor library"
        met = [row.over_vendor.ratio >= VENDOR_SHARE] if row and row.over_vendor else []
    else:
        goal = f"{REWRITES_ALONE:g}× over v0 by rewrites alone"
        met = [row.over_v0.ratio >= REWRITES_ALONE] if row.over_v0 else [False]
    if not _usable(row) or not met:
        return goal
    return f"{goal}: {'met' if all(met) else 'missed'}"


def spent_table(recording: Recording) -> str:
    """What each case cost and what the champion is made of."""
    header = ("Case", "GPU s", "Versions", "Best", "Variants", "Timed calls", "Made of",
              "Methods confirmed", "Ended")  # fmt: skip
    rows = []
    for case in case_studies():
        row = recording.cases.get(case.id)
        if row is None or not _usable(row):
            rows.append([f"`{case.id}`", _absent(row), *[""] * 7])
            continue
        rows.append(
            [
                f"`{case.id}`",
                f"{row.gpu_seconds:.1f}",
                str(row.iterations),
                f"v{row.best_version}",
                str(row.variants),
                str(row.samples),
                ", ".join(row.origin) or "v0 itself",
                code(row.confirmed),
                row.ended.replace("_", " "),
            ]
        )
    return table(header, rows)


def otherwise_table(recording: Recording) -> str:
    """The same GPU seconds by blind random search and by the policy of triton.autotune."""
    header = ("Case", "Search", "Tunables of", "GPU s", "Found after", "Tried", "Best",
              "Champion against it")  # fmt: skip
    rows, missing = [], []
    for case in case_studies():
        row = recording.with_others.get(case.id)
        found = row.compared if row is not None and _usable(row) else ()
        if row is not None and found:
            rows.append(_our_own(row))
        rows += [_otherwise(case, one) for one in found]
        missing += [] if found else [f"`{case.id}`"]
    told = [table(header, rows)] if rows else []
    told += [
        f"`{name}` here: `{row.command}`.\n"
        for name, row in sorted(recording.with_others.items())
        if _usable(row)
    ]
    told += [f"{NOT_RECORDED.capitalize()}: {', '.join(missing)}.\n"] if missing else []
    return "\n".join(told)


def _our_own(row: CaseRecord) -> list[str]:
    return [
        f"`{row.id}`",
        "kbs optimize",
        "",
        f"{row.gpu_seconds:.1f}",
        _seconds(row.found_gpu_seconds),
        str(row.variants),
        _time(row.best_ns),
        "",
    ]


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _otherwise(case: CaseStudy, one: Searched) -> list[str]:
    search = [f"`{case.id}`", one.how, one.start]
    if one.skipped:
        return [*search, "", "", one.skipped, "", ""]
    return [
        *search,
        f"{one.gpu_seconds:.1f}",
        _seconds(one.found_gpu_seconds),
        f"{one.tried} of {one.space}",
        _time(one.best_ns),
        factor(one.champion),
    ]


def knowledge_table(recording: Recording) -> str:
    """The same cases without wiki and outcomes."""
    columns = ("over v0", "best", "found in", "GPU s")
    header = ("Case", *(f"{way}: {name}" for way in ("With", "Without") for name in columns))
    rows = []
    for case in case_studies():
        both = [recording.cases.get(case.id), recording.without_knowledge.get(case.id)]
        cells = [cell for row in both for cell in _found(row)]
        rows.append([f"`{case.id}`", *cells])
    return table(header, rows)


def _found(row: CaseRecord | None) -> list[str]:
    if row is None or not _usable(row):
        return [_absent(row), "", "", ""]
    over = f"{row.over_v0.ratio:.2f}×" if row.over_v0 else "no better found"
    found = f"v{row.best_version} of {row.iterations}" if row.best_version else "–"
    return [over, _time(row.best_ns), found, f"{row.gpu_seconds:.1f}"]


def calibration_table(recording: Recording) -> str:
    """Predicted against realised gains, per method and over all."""
    found = calibrate(outcomes(recording))
    if found.overall is None:
        return NOT_RECORDED[0].upper() + NOT_RECORDED[1:] + ".\n"
    header = ("Method", "Predictions", "Inside", "Promised too much", "Promised too little",
              "Predicted", "Realised", "Mean error")  # fmt: skip
    rows = [(f"`{row.method}`", *_calibrated(row)) for row in found.rows]
    return table(header, [*rows, ("all", *_calibrated(found.overall))])


def _calibrated(row: Calibrated) -> tuple[str, ...]:
    return (
        str(row.count),
        f"{row.covered} ({100 * row.coverage:.0f} %)",
        str(row.below),
        str(row.above),
        f"{100 * row.predicted_mean:.1f} %",
        f"{100 * row.realised_mean:.1f} %",
        f"{100 * row.absolute_error:.1f} %",
    )


def outcomes(recording: Recording) -> Iterable[Outcome]:
    """The gains of a recording as outcomes, which is what calibration reads."""
    studies = {case.id: case for case in case_studies()}
    for row in recording.cases.values():
        for gain in row.gains:
            if row.id not in studies or gain.predicted_low is None or gain.predicted_high is None:
                continue
            yield Outcome(
                method=gain.method,
                verdict=gain.verdict,  # type: ignore[arg-type]  # checked when it was recorded
                kernel="other",
                language=studies[row.id].language,  # type: ignore[arg-type]
                chip=row.chip or row.gpu,
                arch="",
                correct=gain.verdict != "implementation_failed",
                integrity=True,
                gain=gain.realised,
                predicted_gain=(gain.predicted_low, gain.predicted_high),
            )


def origin_lines(recording: Recording) -> str:
    """On what, when and with what the recording was made; what went wrong."""
    rows = list(recording.cases.values()) + list(recording.without_knowledge.values())
    if not rows:
        return "No case is recorded yet.\n"
    cards = sorted({f"{row.gpu}, driver {row.driver}, {row.date}" for row in rows if row.gpu})
    versions = sorted({f"{name} {word}" for row in rows for name, word in row.versions.items()})
    faults = [f"`{row.id}`: {_last(row.error)}" for row in rows if row.error]
    faults += [
        f"`{row.id}`{'' if row.knowledge else ' without knowledge'}: incomplete, "
        f"{_last(row.incomplete)}"
        for row in rows
        if row.incomplete
    ]
    lines = [f"Recorded on: {'; '.join(cards) or 'nothing'}.", f"Versions: {', '.join(versions)}."]
    return "".join(f"- {line}\n" for line in [*lines, *faults])


def factor(one: Factor | None) -> str:
    """``2.73× [2.70, 2.76]``; empty where there is none."""
    return f"{one.ratio:.2f}× [{one.low:.2f}, {one.high:.2f}]" if one else ""


def _usable(row: CaseRecord | None) -> bool:
    return row is not None and not row.error and row.device == "cuda"


def _absent(row: CaseRecord | None) -> str:
    return "no result" if row is not None and row.error else NOT_RECORDED


def _why(row: CaseRecord, arm: str) -> str:
    return row.not_compared.get(arm, "").partition(":")[0]


def _last(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:160] if lines else ""


def _time(value: float | None) -> str:
    return human_ns(value) if value is not None else ""


def main(words: list[str] | None = None) -> int:
    """Write the page where it differs."""
    given = sys.argv[1:] if words is None else words
    path = Path(given[0]) if given else RECORDED
    old = PAGE.read_text(encoding="utf-8")
    try:
        new = page(old, read_recording(path))
    except ValueError as problem:
        print(f"{path}: {problem}", file=sys.stderr)
        return 2
    if new != old:
        PAGE.write_text(new, encoding="utf-8")
        print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
