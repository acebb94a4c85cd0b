"""Trees of builtins, leaf by leaf: each may be edited."""

from __future__ import annotations

import copy


def leaves(tree, path=()):
    """Every leaf of a tree of builtins, by its path."""
    rows = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for name, value in rows:
        if isinstance(value, (dict, list)) and value:
            yield from leaves(value, (*path, name))
        else:
            yield (*path, name), value


def other(value):
    """Something else of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value * 1.001 + 1
    return {None: 7.0, "": "x"}.get(value, "x") if not isinstance(value, (dict, list)) else None


def edited(tree, path, value):
    changed = copy.deepcopy(tree)
    place = changed
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return changed


def named(path):
    return "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in path).lstrip(".")
