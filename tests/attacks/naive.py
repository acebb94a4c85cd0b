"""A harness as many are written: everything in one process, with none of our defences.

It shows that the attacks are real: what gets through here is what each defence is for.
Run as ``python -m tests.attacks.naive`` with one JSON request a line on stdin: kernel and task;
every request is served in a forked child, and one JSON line answers it.
"""

import importlib.util
import json
import os
import select
import signal
import sys
import tempfile
import time
from pathlib import Path

LIMIT_S = 20.0
ENOUGH_RIGHT = 0.99


def load(path, name):
    """A module from a file."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def judge(out, expected):
    """Lenient: broadcasting, any dtype, wide tolerance, NaN equal to NaN, 99 % is enough."""
    import torch

    same = torch.isclose(out.clone().float(), expected, rtol=0.1, atol=0.1, equal_nan=True)
    return same.float().mean().item() >= ENOUGH_RIGHT


def serve(kernel_path, task_path):
    """Check and time with one set of inputs from a public seed; print the result line."""
    from kbs_backends.languages.placement import without_gpu

    task = load(task_path, "task")
    with without_gpu():
        made = task.setup(seed=0)
    expected = task.reference(**made["inputs"])
    kernel = load(kernel_path, "kernel")
    inputs = kernel.setup().get("inputs") or made["inputs"]
    if inputs is not made["inputs"]:
        expected = task.reference(**inputs)
    returned = kernel.run_kernel(**inputs)
    time.sleep(0.02)
    passed = judge(inputs["out"] if returned is None else returned, expected)
    ours, theirs = [], []
    for _ in range(20):
        start = time.perf_counter_ns()
        kernel.run_kernel(**inputs)
        ours.append(time.perf_counter_ns() - start)
        start = time.perf_counter_ns()
        task.reference(**inputs)
        theirs.append(time.perf_counter_ns() - start)
    middle = sorted(theirs)[10] / max(1, sorted(ours)[10])
    sys.stdout.write(json.dumps({"passed": bool(passed), "speedup": middle}) + "\n")
    sys.stdout.flush()


def answer(request):
    """The first line of a child that says whether it passed, or how the child ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.chdir(request["folder"])
        try:
            serve(request["kernel"], request["task"])
        finally:
            os._exit(0)
    os.close(writing)
    text, end = b"", time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        if select.select([reading], [], [], 0.2)[0]:
            more = os.read(reading, 65536)
            if not more:
                break
            text += more
    os.close(reading)
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    for line in text.decode(errors="replace").splitlines():
        if '"passed"' in line:
            return json.loads(line)
    return {"passed": False, "died": os.waitstatus_to_exitcode(status)}


def main():
    """Serve until stdin ends."""
    import torch  # noqa: F401 - once, before the first fork

    import kbs_backends.languages.placement  # noqa: F401 - the same

    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            request = json.loads(line) | {"folder": folder}
            sys.stdout.write(json.dumps(answer(request)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main()
