"""Check Triton kernels on CPU tensors in Triton's interpreter: ``… KERNEL NAME=VALUE… KERNEL …``.

Prints ``right``, or the fault and its words, a line for each. A process of its own, because the
interpreter is chosen when a kernel is defined.
"""

import os
import sys
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("engine", "backends")]

from kbs_backends.languages import LANGUAGES  # noqa: E402 - the paths come first
from kbs_backends.languages.placement import without_gpu  # noqa: E402
from kbs_backends.tasks import compare, load_reference, poison  # noqa: E402


def main(kernel: Path, dims: dict[str, int]) -> str:
    reference = load_reference(kernel.parent / "ref.py", dims)
    tolerance = reference.tolerance()
    with without_gpu():
        run = LANGUAGES["triton"].load(kernel)
    for number, distribution in enumerate(("setup", "normal", "structured_zeros")):
        prepared = reference.prepare_round(number, distribution, "cpu", tolerance)
        poison(prepared.inputs, reference.output_names, "nan", number)
        with without_gpu():
            run(**prepared.inputs)
        outputs = {name: prepared.inputs[name] for name in reference.output_names}
        found = compare(outputs, prepared.expected, prepared.specs, tolerance)
        if prepared.usable and not found.ok:
            return f"{found.fault}: {found.detail}"
    return "right"


def asked(words: list[str]) -> list[tuple[Path, dict[str, int]]]:
    """The kernels with their sizes."""
    found: list[tuple[Path, dict[str, int]]] = []
    for word in words:
        name, is_size, value = word.partition("=")
        if is_size:
            found[-1][1][name] = int(value)
        else:
            found.append((Path(word), {}))
    return found


if __name__ == "__main__":
    for kernel, dims in asked(sys.argv[1:]):
        print(" ".join(main(kernel, dims).split()))
