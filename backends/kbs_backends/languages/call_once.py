"""Call a Python kernel once on CPU tensors: ``python -m …call_once SOURCE CALL.json``.

Started by ``dsl_dump`` in a process of its own, whose environment tells the DSL what to compile
for and where to leave its machine code. The launch itself fails where there is no GPU; what
counts is what was compiled before.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kbs_backends.languages.arguments import arguments_for
from kbs_backends.languages.base import Call
from kbs_backends.languages.messages import read_message
from kbs_backends.languages.placement import PretendChip, without_gpu
from kbs_backends.languages.python_kernel import PythonKernel, call_setup
from kbs_backends.languages.user_code import import_file
from kbs_engine.errors import KbsError


def main(source: Path, call: Call) -> int:
    """Exit status: 0 the call went through, 3 it raised (told on stderr)."""
    with without_gpu(chip=PretendChip(unit_count=call.unit_count)):
        try:
            kernel = PythonKernel.load(source)
            setup, where = None, source
            if call.reference is not None:
                setup, where = getattr(import_file(call.reference), "setup", None), call.reference
            if setup is None:
                setup, where = kernel.setup, source
            inputs, _ = call_setup(setup, call.dims, where, seed=0)
            kernel(**arguments_for(kernel, inputs, call.dims))
        except KbsError as problem:
            sys.stderr.write(f"{problem}\n")
            return 3
    return 0


def read_call(written: Path) -> Call:
    """The call as ``dsl_dump`` wrote it."""
    return read_message(written.read_bytes(), Call)


if __name__ == "__main__":
    path, written = sys.argv[1:]
    sys.exit(main(Path(path), read_call(Path(written))))
