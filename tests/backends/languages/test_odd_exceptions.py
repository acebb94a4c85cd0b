"""Exceptions of users' files that cannot say what they are."""

from __future__ import annotations

import pytest

from kbs_backends.device.faults import code_of, tell
from kbs_backends.languages.user_code import failures_by_line
from kbs_engine.errors import InputError


class OddError(Exception):
    def __str__(self):
        raise ValueError("no words")


def test_an_exception_whose_words_fail_is_still_named(tmp_path):
    file = tmp_path / "ref.py"
    with (
        pytest.raises(InputError, match=r"fails: OddError: <.*str"),
        failures_by_line(file, "fails"),
    ):
        raise OddError
    assert code_of(OddError(), loading=False) == "raised"
    assert "OddError" in tell(OddError())


@pytest.mark.parametrize(
    ("raised", "told"),
    [(RuntimeError("a: b\nc"), "RuntimeError: a: b"), (RuntimeError(), "RuntimeError"),
     (KeyError("x: y"), "KeyError: 'x: y'"),
     (TypeError("randn() got str, but expected one of:\n * (ints size)\n * (more)"),
      "TypeError: randn() got str, but expected one of: * (ints size)")],
)  # fmt: skip
def test_the_first_line_of_the_words_is_told(tmp_path, raised, told):
    file = tmp_path / "ref.py"
    with pytest.raises(InputError) as found, failures_by_line(file, "reference fails"):
        raise raised
    assert found.value.message == f"reference fails: {told}"
