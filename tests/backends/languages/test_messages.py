"""Messages between our processes: paths come back, and what is no message is told."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from kbs_backends.languages.base import Call
from kbs_backends.languages.isolated import Request
from kbs_backends.languages.messages import read_message, written


def test_paths_come_back_as_paths():
    call = Call(dims={"M": 4}, reference=Path("/a/ref.py"))
    asked = Request(
        language="triton", source=Path("/a/k.py"), arch="sm_90a", cache=Path("/c"), call=call
    )
    assert read_message(written(asked), Request) == asked


@pytest.mark.parametrize("text", [b'{"language": 3}', b"[", b'{"source": 3}'])
def test_what_is_no_message_is_a_fault_of_the_message(text):
    with pytest.raises(msgspec.MsgspecError):
        read_message(text, Request)
