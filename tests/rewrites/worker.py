"""Runs Triton sources in one process: on the interpreter, or compiled without a GPU.

Reads a JSON list of {"name", "text", "dims"} on its input and writes one of {"name", "error"}
(empty where all is right) to its output. The first argument says how: ``interpret``, or a
target such as ``sm_90a``.
"""

import copy
import json
import linecache
import os
import sys
import traceback
import warnings
from pathlib import Path

WIDE = {"float16", "bfloat16"}


def load(name, text, folder):
    """Execute a source as a module of its own; Triton reads it again by its file."""
    path = Path(folder) / f"{name}.py"
    path.write_text(text)
    linecache.checkcache(str(path))
    space = {"__name__": name, "__file__": str(path)}
    exec(compile(text, str(path), "exec"), space)
    return space


def check(space, dims):
    """Raise where an output is not what the reference says."""
    import torch

    torch.manual_seed(7)
    made = space["setup"](**dims)
    inputs = made["inputs"]
    expected = space["reference"](**copy.deepcopy(inputs))
    space["run_kernel"](**inputs)
    for name in made["outputs"]:
        loose = {"rtol": 2e-2, "atol": 2e-2} if str(inputs[name].dtype)[6:] in WIDE else {}
        loose = loose or {"rtol": 2e-3, "atol": 2e-3}
        torch.testing.assert_close(inputs[name], expected[name], **loose)


def compiled(space, dims, arch):
    """Compile every launch of one call."""
    from kbs_backends.languages.triton_launches import launches_for

    with launches_for(arch) as launches:
        space["run_kernel"](**space["setup"](**dims)["inputs"])
    if not launches:
        msg = "nothing was launched"
        raise AssertionError(msg)


def main(how, folder):
    """Run all; see the module."""
    warnings.simplefilter("ignore")
    if how == "interpret":
        os.environ["TRITON_INTERPRET"] = "1"
    answers = []
    for number, one in enumerate(json.load(sys.stdin)):
        error = ""
        try:
            space = load(f"k{number}", one["text"], folder)
            for dims in one["dims"] or space["DIMS"]:
                if how == "interpret":
                    check(space, dims)
                else:
                    compiled(space, dims, how)
        except Exception:  # noqa: BLE001 - any failure of a source is the answer
            error = traceback.format_exc(limit=-4)
        answers.append({"name": one["name"], "error": error})
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
