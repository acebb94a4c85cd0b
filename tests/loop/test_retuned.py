"""A version whose tunables, raced anew, gained what its methods did not."""

from __future__ import annotations

import contextlib

import pytest

from kbs.looping.driver import Driver
from kbs.looping.progress import Quiet
from kbs.looping.running import Wiring, wired
from kbs.looping.writing import Writer
from kbs_engine.gate import check_version
from kbs_engine.proposals import TUNING_METHODS, Candidate
from kbs_engine.reports.final import ANEW, IN_THE_LOOP
from tests.loop.test_orders import REPORT, Host, started

KERNEL = '''"""One switch and one tunable."""
ROWS = 1  # kbs:tunable 1, 4
SECOND = False  # kbs:method hoist_invariants


def setup(M=8, **_):
    return {"inputs": {"M": M}, "outputs": []}


def run_kernel(**_):
    pass
'''


class Timed(Host):
    """Times follow from these words of a source."""

    faster: tuple[str, ...] = ()

    def speed(self, text: str) -> float:
        return 1_000_000.0 * 0.5 ** sum(word in text for word in self.faster)


class Claims:
    """A proposer that switches the method on and claims these methods, as far as planned."""

    def __init__(self, *methods: str, beside: str = "") -> None:
        self.methods, self.beside = methods, beside

    def propose(self, request):
        planned = {row.method for row in request.file.plan.methods}
        text = request.source.replace("SECOND = False", "SECOND = True") + self.beside
        return [Candidate(text=text, methods=tuple(m for m in self.methods if m in planned))]


@pytest.fixture
def reports(tmp_path):
    def go(*faster: str, claims: tuple[str, ...], beside: str = "") -> tuple[str, str]:
        run = started(tmp_path, kernel=KERNEL, iterations=1)
        wiring = Wiring(
            home=None, roots=(), remember=False, proposer=Claims(*claims, beside=beside)
        )
        with run, contextlib.closing(Timed(run.blobs, REPORT)) as device:
            device.faster = faster
            Driver(run, device, wired(run, run.state().settings, wiring), Writer(run), Quiet()).go()
            assert run.state().best_version == 1
            assert check_version(run, 1, final=True) == ()
            names = ("summary.md", "final_report.md")
            return tuple((run.root / name).read_text() for name in names)

    return go


@pytest.mark.parametrize("faster", [("ROWS = 4",), ("ROWS = 4", "SECOND = True")])
def test_the_tunables_gain_is_told(reports, faster):
    for text in reports(*faster, claims=("hoist_invariants",)):
        (line,) = (row for row in text.splitlines() if "tunables changed" in row)
        assert line.startswith("- v1: its tunables changed (ROWS from 1 to 4), it is ")
        assert "its methods together return " in line
        assert line.endswith("of the time: the rest is the tunables' and was not ablated")


def test_a_gain_of_the_method_alone_is_no_gain_of_the_tunables(reports):
    for text in reports("SECOND = True", claims=("hoist_invariants",)):
        assert "tunables changed" not in text


def test_tunables_that_a_method_carries_are_ablated_and_nothing_is_left_over(reports):
    for text in reports("ROWS = 4", claims=("hoist_invariants", *TUNING_METHODS)):
        assert any(name in text for name in TUNING_METHODS)
        assert "tunables changed" not in text


def test_a_gain_that_no_method_explains_is_attributed_to_none(reports, monkeypatch):
    """The kernel is faster for what stands beside the switch, which does nothing."""
    monkeypatch.setitem(globals(), "KERNEL", KERNEL.replace("ROWS = 1  # kbs:tunable 1, 4\n", ""))
    for text in reports("# beside", claims=("hoist_invariants",), beside="# beside\n"):
        (line,) = (row for row in text.splitlines() if "attributed to none" in row)
        assert line.startswith("- v1: it is 2.0")
        assert "none of its methods is shown to help (hoist_invariants ineffective, " in line


def test_reports_say_which_measurement_a_figure_is_of(reports):
    for text in reports("SECOND = True", claims=("hoist_invariants",)):
        head, table = text.split("## ")[1:3]
        assert ANEW in head
        assert IN_THE_LOOP in table
