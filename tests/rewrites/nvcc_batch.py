"""Many CUDA sources compiled by one call of nvcc, each in a namespace of its own."""

import re
import subprocess
from pathlib import Path

_HEADERS = ["cuda_runtime.h", "cuda_fp16.h", "cuda_bf16.h", "float.h", "math.h", "stdint.h"]
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)


def combined(sources):
    """Return one source; ``sources`` are names and texts. Errors name the source they are in."""
    parts = [f"#include <{header}>" for header in _HEADERS]
    for number, (name, text) in enumerate(sources):
        plain = text.replace('extern "C" ', "")
        parts += [f'#line 1 "{name}"', f"namespace source_{number} {{", plain, "}"]
        parts += [f"#undef {macro}" for macro in dict.fromkeys(_DEFINE.findall(text))]
    return "\n".join(parts) + "\n"


def compile_all(sources, folder, arch="sm_90a"):
    """Compile ``sources`` for ``arch``; return what nvcc said, empty where all compile."""
    path = Path(folder) / "all.cu"
    path.write_text(combined(sources))
    command = [
        "nvcc",
        f"-arch={arch}",
        "-std=c++17",
        "-cubin",
        "-o",
        str(path.with_suffix(".cubin")),
    ]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr
