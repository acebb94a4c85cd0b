"""``@triton.autotune``: its configurations, and pinning a source to one of them."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
import msgspec

from kbs_backends.variants.python_scan import Tree, children_of, decorator_call, name_ends, parse
from kbs_backends.variants.records import Edit, MarkError, Tunable, apply_edits

UNPINNED = -1
"""Value of a ``kernel.config`` tunable that leaves the choice to the autotuner."""


class Autotuned(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel with ``@triton.autotune`` and where its configurations stand."""

    kernel: str
    line: int
    start: int
    """Byte offset of the expression given as ``configs``."""
    end: int
    count: int | None
    """Number of configurations, None where the source computes them."""
    elements: tuple[tuple[int, int], ...] = ()
    """Byte offsets of each where they are a list in the decorator itself."""

    @property
    def tunable(self) -> Tunable | None:
        """Which configuration runs: -1 leaves it to the autotuner. None where not countable."""
        if self.count is None or self.count <= 1:
            return None
        return Tunable(
            name=f"{self.kernel}.config",
            line=self.line,
            current=UNPINNED,
            values=tuple(range(UNPINNED, self.count)),
            kind="inferred",
        )


def find_autotuned(tree: Tree) -> tuple[Autotuned, ...]:
    """Return the autotuned kernels of a source, in its order."""
    return tuple(
        found
        for function in _functions(tree.module)
        if (found := _autotuned(tree, function)) is not None
    )


def config_spans(tree: Tree) -> list[tuple[int, int]]:
    """Byte offsets of every ``triton.Config(...)`` that is one among several.

    The constants inside are bound to one configuration and are no tunables of the kernel. The
    only configuration of a list is: its constants are the kernel's.
    """
    single = [site.elements[0] for site in find_autotuned(tree) if len(site.elements) == 1]
    spans = [tree.span(call) for call in _calls(tree.module, "Config")]
    return [span for span in spans if not any(one[0] <= span[0] < one[1] for one in single)]


def pin_edits(site: Autotuned, index: int, tree: Tree, where: str) -> list[Edit]:
    """Return what leaves only configuration ``index`` of ``site``.

    Raises:
        MarkError: There is no such configuration.
    """
    if index < 0 or (site.count is not None and index >= site.count):
        raise MarkError(
            f"{site.kernel} has no configuration {index}",
            where=f"{where}:{site.line}",
            remedy=f"choose 0 to {site.count - 1}" if site.count else "choose 0 or more",
        )
    if site.elements:
        start, end = site.elements[index]
        only = tree.data[start:end].decode()
        return [Edit(site.elements[0][0], site.elements[-1][1], only)]
    old = tree.data[site.start : site.end].decode()
    chosen = old if old.isidentifier() else f"({old})"
    return [Edit(site.start, site.end, f"{chosen}[{index}:{index + 1}]")]


def pin_autotune(text: str, index: int, *, kernel: str | None = None, where: str = "source") -> str:
    """Return a Triton source whose ``@triton.autotune`` has only configuration ``index`` left.

    With one configuration Triton runs it without timing any, so that a profiler sees exactly
    one launch. ``kernel`` is needed where several kernels are autotuned.

    Raises:
        MarkError: No such kernel or configuration, or several kernels and none named.
    """
    tree = parse(text, where)
    sites = [one for one in find_autotuned(tree) if kernel in {None, one.kernel}]
    if len(sites) != 1:
        names = ", ".join(one.kernel for one in find_autotuned(tree)) or "none"
        raise MarkError(
            f"no single autotuned kernel{f' {kernel}' if kernel else ''} (autotuned: {names})",
            where=where,
            remedy="name one of them",
        )
    return apply_edits(text, pin_edits(sites[0], index, tree, where))


def _autotuned(tree: Tree, function: cst.FunctionDef) -> Autotuned | None:
    decorator = decorator_call(function, ("autotune",))
    if decorator is None or not isinstance(decorator.decorator, cst.Call):
        return None
    for place, argument in enumerate(decorator.decorator.args):
        named = argument.keyword.value if argument.keyword is not None else ""
        if named == "configs" or (not named and place == 0 and not argument.star):
            configs = argument.value
            break
    else:
        return None
    start, end = tree.span(configs)
    listed = configs if isinstance(configs, cst.List) else _assigned_list(tree, configs)
    starred = listed is None or any(isinstance(e, cst.StarredElement) for e in listed.elements)
    inside = isinstance(configs, cst.List) and not starred
    return Autotuned(
        kernel=function.name.value,
        line=tree.line(configs),
        start=start,
        end=end,
        count=None if starred or listed is None else len(listed.elements),
        elements=tuple(tree.span(one.value) for one in configs.elements)
        if inside and isinstance(configs, cst.List)
        else (),
    )


def _assigned_list(tree: Tree, name: cst.BaseExpression) -> cst.List | None:
    """List assigned once at file level to a name."""
    if not isinstance(name, cst.Name):
        return None
    found: list[cst.BaseExpression] = []
    for statement in tree.module.body:
        if not isinstance(statement, cst.SimpleStatementLine):
            continue
        for small in statement.body:
            if isinstance(small, cst.Assign):
                targets = [one.target for one in small.targets]
                if any(isinstance(t, cst.Name) and t.value == name.value for t in targets):
                    found.append(small.value)
    only = found[0] if len(found) == 1 else None
    return only if isinstance(only, cst.List) else None


def _functions(module: cst.Module) -> Iterator[cst.FunctionDef]:
    return (node for node in _walk(module) if isinstance(node, cst.FunctionDef))


def _calls(module: cst.Module, name: str) -> Iterator[cst.Call]:
    for node in _walk(module):
        if isinstance(node, cst.Call) and name_ends(node.func, name):
            yield node


def _walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in children_of(node):
        yield from _walk(child)
