"""A pipe, socket or device in place of a file is refused at once; nothing waits for it."""

from __future__ import annotations

import io
import os
import signal
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from kbs.cli import cli
from kbs_engine.errors import KbsError
from kbs_engine.inputs import read_regular, read_regular_text

KERNEL = "import triton\n\n\ndef run_kernel(**_):\n    pass\n"
REFERENCE = "def reference(x):\n    pass\n"
COMMANDS = {
    "kernel": "check {odd} --ref {ref} --language triton --device host --M=4",
    "kernel, language from the file": "bench {odd} --ref {ref} --device host --M=4",
    "reference": "check {kernel} --ref {odd} --device host --M=4",
    "setup": "check {kernel} --ref {ref} --setup {odd} --device host --M=4",
    "optimize": "optimize {odd} --ref {ref} --device host --M=4",
    "profile": "profile {odd} --ref {ref} --device host --M=4",
    "asm": "asm {odd} --arch sm_90a",
    "baseline": "baseline {odd} --M=4",
    "report": "diagnose {odd}",
    "two reports": "diff {odd} {odd}",
    "merge": "experience merge {odd}",
    "add": "experience add {odd}",
    "capsule": "replicate {odd} --device host",
    "ceilings": "ceiling --from {odd}",
}


@pytest.fixture(params=["pipe", "socket", "device"])
def odd(request, tmp_path):
    path = tmp_path / "odd"
    if request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "socket":
        path = Path(os.path.relpath(path))  # names of sockets are short
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(path))
        listening.close()
    else:
        path = Path("/dev/zero")
    return path


@pytest.fixture
def in_time():
    """A command that hangs is a failed test, not a stuck run."""
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it waits"))
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("in_time")
@pytest.mark.parametrize("case", COMMANDS)
def test_it_is_refused_by_every_command(tmp_path, home, odd, case):
    kernel, ref = tmp_path / "kernel.py", tmp_path / "ref.py"
    kernel.write_text(KERNEL)
    ref.write_text(REFERENCE)
    words = COMMANDS[case].format(odd=odd, kernel=kernel, ref=ref).split()
    ran = CliRunner().invoke(cli, ["--home", str(home), *words])
    assert isinstance(ran.exception, KbsError), (ran.exception, ran.output)
    assert ran.exception.exit_code == 2
    told = f"{ran.exception.message} {ran.exception.where}"
    assert "regular file" in told
    assert odd.name in told


@pytest.mark.usefixtures("in_time")
def test_what_a_shell_hands_over_is_read(tmp_path):
    """``/dev/stdin`` and ``<(…)`` are pipes to which somebody writes."""
    read, write = os.pipe()
    os.write(write, b"a\r\nb\rc\n")
    os.close(write)
    try:
        assert read_regular_text(Path(f"/dev/fd/{read}")) == "a\nb\nc\n"
    finally:
        os.close(read)
    record = (
        '{"method": "split_k", "verdict": "ineffective", "kernel": "gemm", "language": "triton",'
        ' "chip": "h100_sxm", "arch": "sm_90a", "correct": true, "integrity": true}'
    )
    words = ["--home", str(tmp_path / "home"), "--json", "experience", "add", "-"]
    ran = CliRunner().invoke(cli, words, input=io.BytesIO(record.encode()))
    assert ran.exit_code == 0, ran.exception


def test_files_are_read_as_they_are(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    assert read_regular(path) == b"\xef\xbb\xbfone\r\ntwo"
    assert read_regular_text(path, "utf-8-sig") == "one\ntwo"
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none")
    linked = tmp_path / "link"
    linked.symlink_to(path)
    assert read_regular(linked) == read_regular(path)
