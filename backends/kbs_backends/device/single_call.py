"""Exactly one call of a kernel inside a profiler range, for ncu and compute-sanitizer.

``python -m kbs_backends.device.single_call SOURCE REF DIMS_JSON --language L [--artifact SO]``

Inputs are set up and one warm-up call is made outside of the range, so that neither the
framework's kernels nor a compilation get in. Without a GPU (``--device cpu``) the call is made
without a range: a dry run.

``python -m kbs_backends.device.single_call --wait PID`` imports first and reads these arguments
from the device process PID when there is a call to make (``ahead``). With ``--hold FOLDER`` it
stands before the range until the device is free for what must be measured alone.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

SEED = 20_001
"""The values do not matter here: nothing is judged by them."""
PREPARED, GO = "prepared", "go"
"""Files by which a call that is held and its device tell each other how far they are."""
HOLD_S = 600.0
"""Longer than what else runs on a device may take."""
HOLD_TICK_S = 0.001


def main(arguments: list[str] | None = None) -> int:
    """Run; 0 when the call was made."""
    from kbs_backends.languages import LANGUAGES
    from kbs_backends.languages.arguments import arguments_for
    from kbs_backends.tasks import load_reference
    from kbs_engine.errors import KbsError

    options = _parse(arguments)
    if options.zero_scratch and options.language == "triton":
        from kbs_backends.device.zero_scratch import zero_scratch

        zero_scratch()
    try:
        reference = load_reference(
            options.reference, json.loads(options.dims), setup=options.setup,
            outputs=tuple(options.output), ptr_size=options.ptr_size,
        )  # fmt: skip
        kernel = LANGUAGES[options.language].load(
            options.source, options.artifact, name="candidate"
        )
        device = options.device if options.device == "cpu" else f"cuda:{options.gpu}"
        inputs = reference.make_inputs(SEED, "setup", device)
        chosen = arguments_for(kernel, inputs, reference.dims)
    except KbsError as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    if options.warm:
        kernel(**chosen)
    if options.hold is not None and not _held(options.hold, device):
        return 2
    with _range(device):
        kernel(**chosen)
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("source", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("dims", help="JSON object")
    parser.add_argument("--language", required=True)
    parser.add_argument("--artifact", type=Path)
    parser.add_argument("--setup", type=Path)
    parser.add_argument("--output", action="append", default=[])
    parser.add_argument("--ptr-size", type=int)
    parser.add_argument("--gpu", type=int, default=0)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--zero-scratch", action="store_true")
    parser.add_argument("--warm", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--hold", type=Path, metavar="FOLDER")
    return parser.parse_args(arguments)


def _held(folder: Path, device: str) -> bool:
    """Say in ``folder`` that all but the range is done, and wait there for the word to go on.

    The candidate could write that word itself: it would spoil nobody's profile but its own.
    """
    if device != "cpu":
        import torch

        torch.cuda.synchronize()
    (folder / PREPARED).touch()
    deadline = time.monotonic() + HOLD_S
    while time.monotonic() < deadline:
        if (folder / GO).exists():
            return True
        time.sleep(HOLD_TICK_S)
    sys.stderr.write(f"nobody said within {HOLD_S:g} s that the device is free\n")
    return False


@contextlib.contextmanager
def _range(device: str) -> Iterator[None]:
    if device == "cpu":
        yield
        return
    import torch

    torch.cuda.set_device(device)
    torch.cuda.synchronize()
    torch.cuda.profiler.start()  # type: ignore[no-untyped-call]
    yield
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()  # type: ignore[no-untyped-call]


def _started() -> int:
    """As a program; one that waited for a call in vain ends at once."""
    if sys.argv[1:2] == ["--wait"]:
        from kbs_backends.device.await_request import await_request

        arguments = await_request(int(sys.argv[2]))
        if arguments is None:
            os._exit(0)
        sys.argv[1:] = arguments
    return main()


def _leave(code: int) -> NoReturn:
    """End as a C program does: what tools do at the end is done, Python is not taken down.

    Taking down an interpreter with torch in it takes 0.3 s and more.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).exit(code)
    raise AssertionError  # exit(3) does not return


if __name__ == "__main__":
    _leave(_started())
