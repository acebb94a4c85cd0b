"""The command proposer: a request on stdin, candidates on stdout, both with a JSON Schema."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from kbs_engine.decoding import decode_json
from kbs_engine.errors import MeasurementError, UsageError
from kbs_engine.proposals import Answer, Candidate, Request

MOST_BYTES: Final = 16 << 20
SHOWN: Final = 300


def schemas() -> dict[str, Any]:
    """The JSON Schemas of what a program is given and of what it prints."""
    return {"request": msgspec.json.schema(Request), "answer": msgspec.json.schema(Answer)}


class CommandProposer:
    """Runs a program once for every try; what it prints must be one answer."""

    def __init__(self, command: str, *, timeout_s: float = 600.0) -> None:
        """Split the command as a shell would; UsageError when nothing is left of it."""
        try:
            self.arguments = shlex.split(command)
        except ValueError as problem:
            raise UsageError(
                f"the command cannot be read: {problem}", where="--proposer", remedy="close quotes"
            ) from problem
        if not self.arguments:
            raise UsageError("an empty command", where="--proposer", remedy="name a program")
        self.timeout_s = timeout_s

    def propose(self, request: Request) -> Sequence[Candidate]:
        """The program's candidates.

        Raises:
            MeasurementError: It could not be run, ended with an error, took too long, or
                printed what is no answer; the reason becomes the feedback of the next try.
        """
        out, err, code = self._run(msgspec.json.encode(request))
        if code != 0:
            raise MeasurementError(f"the proposer ended with {code}: {_last(err)}")
        if len(out) > MOST_BYTES:
            raise MeasurementError(f"the proposer printed more than {MOST_BYTES >> 20} MiB")
        try:
            answer = decode_json(out, Answer)
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            raise MeasurementError(
                f"the proposer printed what is no answer: {problem}; it began with "
                f"{out[:80].decode(errors='replace')!r}"
            ) from problem
        planned = {row.method for row in request.file.plan.methods}
        for candidate in answer.candidates:
            extra = [method for method in candidate.methods if method not in planned]
            if extra:
                raise MeasurementError(
                    f"candidate {candidate.name or '?'} claims {', '.join(extra)}, "
                    "which the plan does not hold"
                )
        return answer.candidates

    def _run(self, data: bytes) -> tuple[bytes, bytes, int]:
        try:
            process = subprocess.Popen(
                self.arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as problem:
            raise MeasurementError(
                f"the proposer {self.arguments[0]} cannot be run: {problem.strerror or problem}"
            ) from problem
        with process:
            try:
                out, err = process.communicate(data, timeout=self.timeout_s)
            except subprocess.TimeoutExpired as late:
                _end(process.pid)
                process.communicate()
                raise MeasurementError(
                    f"the proposer gave no answer within {self.timeout_s:g} s"
                ) from late
        return out, err, process.returncode


def _end(pid: int) -> None:
    """End the program with everything that it started; it leads its own session."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _last(err: bytes) -> str:
    lines = err.decode(errors="replace").strip().splitlines()
    return lines[-1][:SHOWN] if lines else "it said nothing"
