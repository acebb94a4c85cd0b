"""No bounds masks where sizes divide; where they do not, the old masks."""

from __future__ import annotations

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.counts import Tiles
from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.heuristics import add_facts
from kbs_backends.rewrites.triton.masks import always_true
from kbs_backends.rewrites.triton.view import Kernel, argument, view_of

METHOD = "mask_elision"


def rewrite(source: RewriteSource) -> Rewritten:
    """Leave masks out where the launch shows that they are true; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    changed = 0
    for kernel in view.launched():
        flags: dict[frozenset[str], str] = {}
        here = sum(_elide(draft, kernel, flags))
        if here:
            changed += here
            facts = {name: " and ".join(sorted(what)) for what, name in flags.items()}
            add_facts(draft, kernel, facts)
    if not changed:
        raise NotApplicableError("no mask that is true whenever a size divides by a tile")
    return draft.finish(f"{changed} masks left out where sizes divide")


def _elide(draft: TritonDraft, kernel: Kernel, flags: dict[frozenset[str], str]) -> list[bool]:
    tiles = Tiles(kernel, Flow(kernel))
    done = []
    tree = draft.view.tree
    for call in kernel.calls("load", "store"):
        mask = argument(call, "mask", 1 if kernel.is_tl(call, "load") else 2)
        conditions = always_true(kernel, tiles, mask.value) if mask is not None else None
        if mask is None or not conditions:
            continue
        number = f"_{len(flags) + 1}" if flags else ""
        flag = flags.setdefault(conditions, f"KBS_EVEN{number}")
        draft.insert(tree.span(mask.value)[0], f"None if {flag} else ")
        other = argument(call, "other", 2) if kernel.is_tl(call, "load") else None
        if other is not None:
            draft.insert(tree.span(other.value)[0], f"None if {flag} else ")
        done.append(True)
    return done
