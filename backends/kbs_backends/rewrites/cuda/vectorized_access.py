"""Elementwise kernels with several neighbours a thread, moved as one wide access."""

from __future__ import annotations

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.aliases import aliased
from kbs_backends.rewrites.cuda.covers import covers
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.elementwise import Elementwise
from kbs_backends.rewrites.cuda.view import Kernel, View, view_of
from kbs_backends.variants.cuda_tree import enclosing_function

METHOD = "vectorized_access"
_WIDEST = 16
_HELPERS = """
template <typename T>
struct alignas(sizeof(T) * KBS_VECTOR) KbsPack {
  T v[KBS_VECTOR];
};
template <typename T>
__device__ __forceinline__ bool kbs_aligned(const T* place) {
  return reinterpret_cast<unsigned long long>(place) % sizeof(KbsPack<T>) == 0;
}
"""


def rewrite(source: RewriteSource) -> Rewritten:
    """Move several elements at a time; see ``ModuleRewrite``.

    Arrays that are not aligned, and the elements beyond the last whole group, take the old way.
    """
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    reasons: list[str] = []
    sizes: set[int] = set()
    done = []
    for kernel in view.kernels:
        try:
            form = Elementwise(kernel)
        except NotApplicableError as problem:
            reasons.append(str(problem))
            continue
        reason = _refusal(view, kernel)
        if reason:
            reasons.append(reason)
            continue
        sizes.add(form.bytes_per_element)
        done.append(kernel)
        covered = bool(form.stride) or _is_covered(view, form)
        _vectorize(draft, form, covered=covered)
        if covered and not form.stride:
            _shrink_grid(draft, kernel)
    if not done:
        raise NotApplicableError("; ".join(dict.fromkeys(reasons)))
    widest = _WIDEST // max(sizes)
    draft.tunable("KBS_VECTOR", widest, tuple(v for v in (2, 4, 8) if v <= widest))
    draft.line(_HELPERS)
    return draft.finish(f"wide accesses: {', '.join(kernel.name for kernel in done)}")


def _refusal(view: View, kernel: Kernel) -> str:
    if len(view.functions[kernel.name]) > 1:
        return f"{kernel.name} has overloads, whose launches cannot be told apart"
    return aliased(view, kernel)


def _is_covered(view: View, form: Elementwise) -> bool:
    """Return whether every launch has a thread for every element."""
    place, launches = list(form.kernel.params).index(form.bound), form.kernel.launches()
    reached = bool(launches) and all(covers(view, one, place) for one in launches)
    return reached and not view.passed_on(form.kernel.name)


def _vectorize(draft: CudaDraft, form: Elementwise, *, covered: bool) -> None:
    """Write the new body; where a launch may not reach the size, it goes as far as its threads."""
    view, body = draft.view, form.kernel.body
    start, end = body.start_byte + 1, body.end_byte - 1
    old = view.data[start:end].decode().strip("\n").rstrip()
    bound = form.bound if covered else "kbs_size"
    group = _group(form, bound)
    first = f"  const {form.index_type} kbs_first = kbs_thread * KBS_VECTOR;"
    if form.stride:
        head = (
            f"  for ({form.index_type} kbs_thread = {form.first}; "
            f"kbs_thread <= {form.bound} / KBS_VECTOR; kbs_thread += {form.stride}) {{"
        )
        new = [head, f"  {first}", *(f"  {line}" for line in group), "  }"]
    else:
        threads = "(long long)gridDim.x * blockDim.x"
        size = f"  const auto kbs_size = {form.bound} < {threads} ? {form.bound} : {threads};"
        start_of_group = [
            *([] if covered else [size]),
            f"  const {form.index_type} kbs_thread = {form.first};",
            f"  if (kbs_thread > {bound} / KBS_VECTOR) return;",
            first,
        ]
        new = [*start_of_group, *group]
    lines = ["", f"#if {draft.switch}", *new, "#else", old, "#endif", ""]
    draft.replace((start, end), "\n".join(lines))


def _group(form: Elementwise, bound: str) -> list[str]:
    """Lines that handle the elements from ``kbs_first`` on; no number passes the size."""
    aligned = " && ".join(f"kbs_aligned({param.name})" for param in form.arrays)
    lines = [f"  if ({bound} - kbs_first >= KBS_VECTOR && {aligned}) {{"]
    for param in form.arrays:
        pack = f"KbsPack<{param.element}>"
        name = f"kbs_{param.name}"
        if param.name in form.loaded:
            at = f"reinterpret_cast<const {pack}*>({param.name} + kbs_first)"
            lines.append(f"    {pack} {name} = *{at};")
        else:
            lines.append(f"    {pack} {name};")
    lines += [
        "#pragma unroll",
        "    for (int kbs_lane = 0; kbs_lane < KBS_VECTOR; ++kbs_lane) {",
        f"      const {form.index_type} {form.index} = kbs_first + kbs_lane;",
        f"      (void){form.index};",
        *(f"      {line}" for line in form.statements(packed=True)),
        "    }",
    ]
    for param in form.arrays:
        if param.name in form.stored:
            at = f"reinterpret_cast<KbsPack<{param.element}>*>({param.name} + kbs_first)"
            lines.append(f"    *{at} = kbs_{param.name};")
    lines += [
        "  } else {",
        f"    for (int kbs_lane = 0; kbs_lane < {bound} - kbs_first; ++kbs_lane) {{",
        "      if (kbs_lane == KBS_VECTOR) break;",
        f"      const {form.index_type} {form.index} = kbs_first + kbs_lane;",
        f"      (void){form.index};",
        *(f"      {line}" for line in form.statements(packed=False)),
        "    }",
        "  }",
    ]
    return lines


def _shrink_grid(draft: CudaDraft, kernel: Kernel) -> None:
    """Launch fewer blocks where their number stands as one expression."""
    view = draft.view
    places = {
        place.start_byte: place
        for one in kernel.launches()
        if (place := _blocks(view, one.grid, one.host))
    }
    for place in places.values():
        old = view.code(place)
        fewer = f"(({old}) + KBS_VECTOR - 1) / KBS_VECTOR"
        draft.replace(view.span(place), f"({draft.switch} ? {fewer} : ({old}))")


def _blocks(view: View, grid: Node | None, host: Node | None) -> Node | None:
    if grid is None or grid.type in {"binary_expression", "number_literal"}:
        return grid
    if grid.type != "identifier" or host is None:
        return None
    name = view.code(grid)
    if sum(view.code(node) == name for node in view.tree.walk(host, "identifier")) > 2:  # noqa: PLR2004
        return None  # others depend on it: its declaration and one launch are all there may be
    value = view.constant(name, host)
    if value is not None and enclosing_function(value) != host:
        return None  # of the whole file: other launches may have it
    if value is not None and value.type == "argument_list":
        listed = [child for child in value.children if child.is_named]
        return listed[0] if len(listed) == 1 else None
    return value if value is not None and value.type == "binary_expression" else None
