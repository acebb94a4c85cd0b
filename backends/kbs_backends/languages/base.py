"""What a language is: the port that every language module implements.

A module compiles a file for a target without a GPU, shows its machine code, and loads it in
the process that runs it. ``compile`` and ``listings`` of Python languages execute the user's
file: call them in a process that may die (``languages.isolated`` does).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from kbs_backends.languages.cache import CompileCache
from kbs_engine.results import Compiled, Disassembled
from kbs_engine.vocabulary import Language


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """What a kernel is called with, where a language compiles per argument types (Triton).

    Inputs come from the reference's ``setup(**dims)`` where there is one, else from the
    kernel's own: for compiling, nothing is judged by them.
    """

    dims: Mapping[str, int | float | str | bool] = msgspec.field(default_factory=dict)
    reference: Path | None = None
    outputs: tuple[str, ...] = ()
    ptr_size: int | None = None
    unit_count: int | None = None
    """SMs of the target chip, for kernels whose grid asks for it; None: asking is an error."""


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter of ``extern "C" void solve(...)``."""

    name: str
    type: str
    """Element type as C writes it, without ``const`` and ``*``: ``float``, ``__half``, ``int``."""
    pointer: bool
    const: bool = False


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of ``solve`` in order, and the line where it stands."""

    parameters: tuple[Parameter, ...]
    line: int

    @property
    def names(self) -> tuple[str, ...]:
        """Parameter names in order."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def pointers(self) -> tuple[Parameter, ...]:
        """The parameters that are device pointers."""
        return tuple(parameter for parameter in self.parameters if parameter.pointer)


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``compile``: the record, and the files that the compiler left in the cache.

    Files by kind: ``library`` (a .so to run), ``cubin`` or ``cubin0``… (to disassemble),
    ``amdgcn``, ``ptx``. Empty when ``compiled.ok`` is False.
    """

    compiled: Compiled
    files: Mapping[str, Path] = msgspec.field(default_factory=dict)

    @property
    def library(self) -> Path | None:
        """The shared library, where the language makes one."""
        return self.files.get("library")


class Listings(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``listings``: parsed machine code and the text it was parsed from."""

    disassembled: Disassembled
    text: str


class Runnable(Protocol):
    """A loaded kernel. Call it with every input by name; outputs are written in place."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names that the kernel takes, in order; empty where it takes any (``**kwargs``)."""
        ...

    @property
    def optional(self) -> frozenset[str]:
        """Those of ``arguments`` that have a default."""
        ...

    def __call__(self, **inputs: Any) -> object:
        """Launch once, asynchronously where the kernel does; what ``run_kernel`` returned."""
        ...

    def prepare(self, **inputs: Any) -> Callable[[], object]:
        """One launch with these arguments checked beforehand, for use between two timers."""
        ...


class LanguageModule(Protocol):
    """One language. Modules are instances listed in ``LANGUAGES``."""

    @property
    def name(self) -> Language:
        """The word for it everywhere."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """File endings, with the dot."""
        ...

    def detect(self, text: str) -> bool:
        """Whether the text of a file with such an ending is in this language."""
        ...

    def compile(
        self,
        source: Path,
        arch: str,
        *,
        cache: CompileCache,
        flags: Sequence[str] = (),
        call: Call | None = None,
    ) -> Built:
        """Compile for ``sm_90a``, ``gfx942``…; a source with faults is ``compiled.ok`` False.

        Raises:
            MeasurementError: The compiler is not here; says how to get it.
            InputError: The file breaks the contract (no ``solve``, no ``run_kernel``).
            UsageError: The language cannot be compiled for this target.
        """
        ...

    def listings(
        self,
        source: Path,
        arch: str,
        *,
        cache: CompileCache,
        flags: Sequence[str] = (),
        call: Call | None = None,
    ) -> Listings:
        """Machine code of every kernel; MeasurementError when it does not compile."""
        ...

    def load(self, source: Path, artifact: Path | None = None, *, name: str = "") -> Runnable:
        """Make the kernel callable in this process (it is not isolated from the caller).

        ``artifact`` is ``Built.library`` for .cu languages; Python files are imported under
        a unique module name that holds ``name``.

        Raises:
            InputError: The file breaks the contract; names the missing part.
        """
        ...
