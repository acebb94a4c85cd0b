"""Numbers that cannot be used are refused where they are typed, before anything is measured."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from kbs.cli import cli
from kbs_engine.errors import UsageError
from kbs_engine.jobs import LEAST_SAMPLES, TimingSettings
from kbs_engine.numerals import LARGEST, read_integer, storable
from kbs_engine.timing import check_clocks

HUGE = "9" * 22
ENDLESS = "9" * 5000

KERNEL = '''"""A kernel that nothing in these tests ever runs."""
import triton


def run_kernel(**_):
    pass
'''
REFERENCE = "def reference(x):\n    pass\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "kernel.py").write_text(KERNEL)
    (tmp_path / "ref.py").write_text(REFERENCE)
    return tmp_path


def refused(files, *arguments: str) -> UsageError:
    ran = CliRunner().invoke(cli, ["--home", str(files / "home"), *arguments])
    assert isinstance(ran.exception, UsageError), (ran.exception, ran.output)
    assert ran.exception.exit_code == 2
    assert len(str(ran.exception)) < 500
    return ran.exception


def measuring(files, *verb: str) -> list[str]:
    kernel, reference = files / "kernel.py", files / "ref.py"
    return [*verb, str(kernel), "--ref", str(reference), "--device", "host"]


MEASURING = [("check",), ("bench",), ("profile",), ("optimize",), ("loop", "init")]
DIMS = {
    "integer": ("--dims", f"M={HUGE}"),
    "negative": ("--dims", f"M=-{HUGE}"),
    "endless": ("--dims", f"M={ENDLESS}"),
    "JSON": ("--dims", f'{{"M": {HUGE}}}'),
    "free": (f"--M={HUGE}",),
    "nan": ("--dims", "M=nan"),
    "infinite": ("--dims", "M=1e999"),
}


@pytest.mark.parametrize("verb", MEASURING, ids="-".join)
@pytest.mark.parametrize("case", DIMS)
def test_a_dim_that_no_record_holds_is_refused(files, verb, case):
    told = refused(files, *measuring(files, *verb), *DIMS[case])
    assert "M is no size" in told.message


@pytest.mark.parametrize(
    ("verb", "options", "where"),
    [
        (("check",), ("--ptr-size", HUGE), "ptr-size"),
        (("bench",), ("--num-warmup", HUGE), "num-warmup"),
        (("optimize",), ("--warmup", HUGE), "warmup"),
    ],
)
def test_so_is_any_other_number_of_a_command(files, verb, options, where):
    told = refused(files, *measuring(files, *verb), "--dims", "M=4", *options)
    assert where in told.where


@pytest.mark.parametrize("value", [f"M={HUGE}", f"M={ENDLESS}", f'{{"M": {HUGE}}}'])
def test_so_are_dims_of_an_outcome(files, value):
    told = refused(
        files, "experience", "add", "--method", "loop_unrolling", "--kernel", "gemm",
        "--language", "triton", "--chip", "h100_sxm", "--verdict", "effective", "--correct",
        "--integrity", "--before-ns", "10", "--after-ns", "5", "--dims", value,
    )  # fmt: skip
    assert "no number that can be used" in told.message


@pytest.mark.parametrize(
    ("verb", "option", "discard", "least"),
    [
        (("bench",), "--num-trials", ("--discard-first", "1"), 4),
        (("bench",), "--num-trials", ("--discard-first", "0"), 3),
        (("bench",), "--num-trials", ("--discard-first", "9"), 12),
        (("optimize",), "--trials", (), 4),
        (("loop", "init"), "--trials", (), 4),
    ],
)
def test_too_few_trials_are_refused_with_the_least_number(files, verb, option, discard, least):
    output = ("--output", str(files / "run")) if verb != ("bench",) else ()
    words = (*measuring(files, *verb), "--dims", "M=4", *discard, *output)
    told = refused(files, *words, option, str(least - 1))
    assert f"at least {least}" in told.message
    assert told.where == option
    assert not (files / "run").exists()


@given(st.integers(0, 20), st.integers(0, 40))
def test_what_is_accepted_is_enough_for_two_clocks(discard, trials):
    if trials - discard < LEAST_SAMPLES:
        with pytest.raises(ValueError, match=f"at least {LEAST_SAMPLES + discard}"):
            TimingSettings(trials=trials, discard_first=discard)
        return
    kept = [100.0] * (TimingSettings(trials=trials, discard_first=discard).trials - discard)
    assert check_clocks(kept, kept, overhead_ns=[0.0] * 20).ok


@given(st.integers())
def test_an_integer_is_read_or_is_none_that_can_be_stored(value):
    text = str(value)
    read = read_integer(text)
    assert storable(read) == (-LARGEST - 1 <= value <= LARGEST)
    assert read == value or not storable(read)
