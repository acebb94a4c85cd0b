"""Doubles that decide: what is compared, counted, rounded to a step or asked for a truth."""

from __future__ import annotations

import re

from tree_sitter import Node

from kbs_backends.rewrites.cuda.doubles import wide_names
from kbs_backends.rewrites.cuda.floating import holds_floating, is_floating
from kbs_backends.rewrites.cuda.names import declares, named_children
from kbs_backends.rewrites.cuda.reach import called_name, macro_words, parameters, takes_by_value
from kbs_backends.rewrites.cuda.rounding import COMPARES, SETS, TRUTHS, Rounding
from kbs_backends.rewrites.cuda.rounding import set_and_value as _set_and_value
from kbs_backends.rewrites.cuda.rounding import sign_of as _sign
from kbs_backends.rewrites.cuda.view import Kernel, View

_STEPS = re.compile(
    r"(?:floor|ceil|round|rint|nearbyint|trunc|fmod|remainder|remquo|modf|frexp|logb|ilogb|signbit"
    r"|nextafter|copysign|l{0,2}round|l{0,2}rint|isnan|isinf|isfinite|scalbn|ldexp)[fl]?\Z"
    r"|__(?:double|float|half|bfloat16)\w*2u?(?:int|ll|short|char|longlong)\w*\Z"
    r"|h(?:floor|ceil|rint|trunc)\Z|__(?:any|all|ballot|match)\w*\Z|assert\Z"
)
"""Functions whose value jumps, or is an integer or a truth."""
_HANDS_ON = re.compile(r"(?:atomic|__shfl|kbs_)\w*\Z|\w+_cast\Z|__st(?:cs|cg|wb|wt)\Z")
_INTEGER = re.compile(r"(?:unsigned|signed|int|long|short|char|bool|size_t|u?int\d+_t|[ ])+\Z")
_IN_MACRO = re.compile(
    r"[<>?!&|\[]|==|\b(?:int|unsigned|long|short|char|bool|size_t|u?int\d+_t)\b"
    r"|floor|ceil|round|rint|trunc|fmod|modf|2int"
)
_DEEPEST = 4
"""Functions behind each other that a double is followed through."""
_COUNTS = "makes a double an integer"


def decides(view: View, kernel: Kernel, wide: list[Node]) -> str:
    """Say where what a kernel computes in double decides something; empty where nowhere.

    ``wide`` are the literals and types that would become single.
    """
    if not wide:
        return ""
    names = set(wide_names(view, kernel))
    for declared in view.tree.walk(kernel.body, "parameter_declaration"):  # of lambdas
        names |= _declared(view, declared)
    starts = frozenset(node.start_byte for node in wide)
    scope = _Scope(kernel.node, Rounding(view, kernel.body, starts, frozenset(names)), 0)
    reason = scope.reason()
    return f"{kernel.name} {reason}" if reason else ""


def _declared(view: View, node: Node) -> set[str]:
    return {view.code(one) for one in view.tree.walk(node, "identifier") if declares(one)}


class _Scope:
    """A function with the values that it would round another way."""

    def __init__(self, function: Node, values: Rounding, depth: int) -> None:
        self.function = function
        self.values = values
        self.view = values.view
        self.depth = depth
        self.checks = {
            "binary_expression": self._of_signs,
            "unary_expression": self._of_signs,
            "cast_expression": self._of_cast,
            "call_expression": self._of_call,
            "return_statement": self._of_return,
            **dict.fromkeys(SETS, self._of_set),
            **dict.fromkeys(
                ("if_statement", "while_statement", "do_statement"), self._of_condition
            ),
            **dict.fromkeys(("for_statement", "switch_statement"), self._of_condition),
            "conditional_expression": self._of_condition,
        }

    def reason(self) -> str:
        """What a rounding would decide."""
        if self.values.names & macro_words(self.view, [self.values.body]):
            return "has a macro that works on a double by its name"
        for node in self.view.tree.walk(self.values.body, *self.checks):
            found = self.checks[node.type](node)
            if found:
                return f"{found}: {' '.join(self.view.code(node).split())[:40]}"
        return ""

    def _of_condition(self, node: Node) -> str:
        asked = self.values.differs(node.child_by_field_name("condition"))
        return "asks whether a double is zero" if asked else ""

    def _of_signs(self, node: Node) -> str:
        sign = _sign(self.view, node)
        if sign not in COMPARES | TRUTHS or not any(map(self.values.differs, named_children(node))):
            return ""
        return "compares a double" if sign in COMPARES else "asks whether a double is zero"

    def _of_cast(self, node: Node) -> str:
        counted = not self._is_floating(node.child_by_field_name("type"))
        return _COUNTS if counted and self.values.differs(node.child_by_field_name("value")) else ""

    def _of_set(self, node: Node) -> str:
        target, value = _set_and_value(node)
        if target is None or not self.values.differs(value):
            return ""
        return "" if holds_floating(self.view, self.function, target) else _COUNTS

    def _of_return(self, node: Node) -> str:
        counted = self.depth and not self._is_floating(self.function.child_by_field_name("type"))
        return _COUNTS if counted and self.values.differs(node) else ""

    def _is_floating(self, kind: Node | None) -> bool:
        return kind is not None and is_floating(self.view, self.function, self.view.code(kind))

    def _of_call(self, call: Node) -> str:
        name = called_name(self.view, call)
        listed = call.child_by_field_name("arguments")
        given = named_children(listed) if listed is not None else []
        places = [place for place, one in enumerate(given) if self.values.differs(one)]
        if not places:
            return ""
        if _STEPS.match(name):
            return "rounds a double to a step"
        if name in self.view.macros:
            plain = not any(_IN_MACRO.search(text) for text in self.view.macros[name])
            return "" if plain else "gives a double to a macro that may decide by it"
        if name in self.view.functions:
            reasons = (self._of_function(one, places) for one in self.view.functions[name])
            return next((f"calls {name}, which {reason}" for reason in reasons if reason), "")
        if self._becomes_integer(call, name, given[0]):
            return _COUNTS
        known = _HANDS_ON.match(name) or all(takes_by_value(self.view, call, at) for at in places)
        return "" if known else f"gives a double to {name}, which cannot be followed"

    def _becomes_integer(self, call: Node, name: str, first: Node) -> bool:
        """``static_cast<int>(d)``, ``int(d)``, ``atomicAdd(&counts[i], d)``."""
        called = call.child_by_field_name("function")
        text = self.view.code(called) if called is not None else ""
        if name.endswith("_cast"):
            kind = text.split("<", 1)[-1].rsplit(">", 1)[0]
            return not is_floating(self.view, self.function, kind)
        if name.startswith("atomic"):
            return not holds_floating(self.view, self.function, first)
        return _INTEGER.match(text) is not None

    def _of_function(self, function: Node, places: list[int]) -> str:
        """What a function of the file does with the doubles that it is given at ``places``."""
        listed = list(parameters(function))
        body = function.child_by_field_name("body")
        handed = [listed[place] for place in places if place < len(listed)]
        if body is None or self.depth >= _DEEPEST or len(handed) < len(places):
            return "cannot be followed"
        kinds = [one.child_by_field_name("type") for one in handed]
        if not all(
            kind and is_floating(self.view, function, self.view.code(kind)) for kind in kinds
        ):
            return "takes it as an integer"
        if any(set("*&") & set(self.view.code(one)) for one in listed):
            return "may hand it on"
        names = frozenset().union(*(_declared(self.view, one) for one in handed))
        inner = Rounding(self.view, body, frozenset(), names)
        return _Scope(function, inner, self.depth + 1).reason()
