"""Code of the user in our process: imported under a name of its own, failures told by line."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import itertools
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from kbs_backends.languages.sources import read_source
from kbs_engine.errors import InputError, KbsError, MeasurementError

_COUNTER = itertools.count()


def import_file(path: Path, name: str = "") -> ModuleType:
    """Execute ``path`` as a module under a unique name, so that files never meet in a cache.

    Raises:
        InputError: The file cannot be read or fails while it is imported; names its line.
        MeasurementError: It imports a package that is not installed.
    """
    text = read_source(path)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    unique = f"kbs_user_{name or path.stem}_{digest}_{next(_COUNTER)}".replace("-", "_")
    spec = importlib.util.spec_from_file_location(unique, path)
    if spec is None or spec.loader is None:
        raise InputError("is no Python file", where=str(path), remedy="give a .py file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module
    with contextlib.ExitStack() as undo:
        undo.callback(sys.modules.pop, unique, None)  # a half-imported module must not stay
        with failures_by_line(path, "fails while it is imported"):
            spec.loader.exec_module(module)
        undo.pop_all()
    return module


@contextlib.contextmanager
def failures_by_line(path: Path, what: str, *, remedy: str = "fix the line") -> Iterator[None]:
    """Turn whatever user code raises into an error with the line of the user's file."""
    try:
        yield
    except KbsError:
        raise
    except SyntaxError as problem:
        raise InputError(
            f"does not parse: {problem.msg}", where=f"{path}:{problem.lineno}",
            remedy="fix the line",
        ) from problem  # fmt: skip
    except ModuleNotFoundError as problem:
        raise MeasurementError(
            f"needs the package {problem.name}, which is not installed",
            where=_place(path, problem),
            remedy=f"install {problem.name} beside kbs; a file that lies beside this one is not "
            "carried along: put its code in here",
        ) from problem
    except SystemExit as problem:
        raise InputError(
            f"{what}: it calls exit ({problem.code})", where=_place(path, problem),
            remedy="leave exit out: the file is imported, not run as a program",
        ) from problem  # fmt: skip
    except Exception as problem:  # the boundary to code that is not ours
        raise _told(path, what, problem, remedy) from problem


_NO_MEMORY = ("not enough memory", "can't allocate memory", "cannot allocate memory")


def _told(path: Path, what: str, problem: Exception, remedy: str) -> KbsError:
    import torch

    place = _place(path, problem)
    if isinstance(problem, (torch.cuda.OutOfMemoryError, MemoryError)) or (
        any(words in _words(problem).lower() for words in _NO_MEMORY)
    ):
        return MeasurementError(
            f"{what}: out of memory", where=place,
            remedy="use smaller dims, free the device, or run on one with more memory",
        )  # fmt: skip
    lines = _words(problem).strip().splitlines()
    shown = 2 if lines and lines[0].endswith(":") else 1  # what a heading heads belongs to it
    reason = f": {' '.join(map(str.strip, lines[:shown]))}" if lines else ""
    return InputError(f"{what}: {type(problem).__name__}{reason}", where=place, remedy=remedy)


def _words(problem: Exception) -> str:
    """What it says; its own ``str`` may fail, which is no fault of ours."""
    told = "".join(traceback.format_exception_only(type(problem), problem))
    return told.partition(": ")[2]


def _place(path: Path, problem: BaseException) -> str:
    """The deepest frame in the user's file."""
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f"{path}:{lines[-1]}" if lines else str(path)


def require_python(text: str, path: Path) -> ast.Module:
    """The syntax tree of Python source; InputError with the line where it does not parse."""
    try:
        return ast.parse(text.removeprefix("\ufeff"))
    except SyntaxError as problem:
        raise InputError(
            f"does not parse: {problem.msg}", where=f"{path}:{problem.lineno}",
            remedy="fix the line",
        ) from problem  # fmt: skip
    except (RecursionError, MemoryError, ValueError) as problem:
        raise InputError(
            f"does not parse: {problem or 'nested too deeply'}", where=str(path),
            remedy="give a file that Python can read",
        ) from problem  # fmt: skip


def missing_function(text: str, name: str, path: Path) -> None:
    """InputError when Python source does not define ``name`` at its top level."""
    tree = require_python(text, path)
    defined = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    } | {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    if name not in defined | imported:
        raise InputError(f"defines no {name}", where=str(path), remedy=f"add def {name}(**kwargs)")
