"""Kernels beside the rewrites that they prove, and running many of them in one process."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

from kbs_backends.rewrites import RewriteSource
from kbs_backends.variants import pin_autotune

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SUFFIX = {"triton": ".py", "cuda-cpp": ".cu"}
FOLDER = {"triton": "triton", "cuda-cpp": "cuda"}
CUDA_DIMS = {"N": 4096, "rows": 4096, "columns": 1024, "tokens": 8192, "dim": 1024}


def cases(language, kind):
    """Return the ``fires`` or ``quiet`` kernels of a language as (method, path)."""
    found = sorted((HERE / FOLDER[language]).glob(f"*/{kind}*{SUFFIX[language]}"))
    return [(path.parent.name, path) for path in found]


def corpus(language):
    """Return the kernels that were not written for any rewrite."""
    return sorted((HERE / "corpus" / FOLDER[language]).glob(f"*{SUFFIX[language]}"))


def dims_of(text):
    """Return the sizes that a Triton kernel of ours is tried with."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DIMS":
            return ast.literal_eval(node.value)
    return [{}]


def source_of(text, language, method=""):
    """Return a text with everything known that a rewrite may ask for."""
    dims = dims_of(text)[0] if language == "triton" else CUDA_DIMS
    arch = "sm_100a" if method == "warp_specialization" else "sm_90a"
    return RewriteSource(text=text, language=language, arch=arch, dims=dims, permitted=("tf32",))


def run_all(jobs, how, folder):
    """Run (name, text) pairs on the interpreter or through a compiler; return the failures."""
    ready = [
        {"name": name, "text": _pinned(text) if how == "interpret" else text, "dims": None}
        for name, text in jobs
    ]
    paths = os.pathsep.join(str(ROOT / one) for one in ("engine", "backends", "."))
    environment = os.environ | {"PYTHONPATH": paths, "TRITON_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, str(HERE / "worker.py"), how, str(folder)],
        input=json.dumps(ready),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout[done.stdout.index("[{") :])
    assert len(answers) == len(jobs)
    return {one["name"]: one["error"] for one in answers if one["error"]}


def _pinned(text):
    """The interpreter cannot time configurations: the first one runs."""
    return pin_autotune(text, 0) if "autotune(" in text else text
