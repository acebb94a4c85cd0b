"""What a piece of code reaches in its file: names through macros, and the functions it calls."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from kbs_backends.rewrites.cuda.names import plain_name
from kbs_backends.rewrites.cuda.view import View

_WORD = re.compile(r"[A-Za-z_]\w*")
_CHANGES = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)|<<=|>>=|#|(?<!&)&(?!&)")
_BY_VALUE = re.compile(
    r"(?:(?:min|max|abs|labs|llabs|isnan|isinf|isfinite|signbit|ldexp|saturate)"
    r"|(?:fabs|exp|exp2|exp10|expm1|log|log2|log10|log1p|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh"
    r"|tanh|asinh|acosh|atanh|sinpi|cospi|pow|sqrt|rsqrt|cbrt|rcbrt|hypot|rhypot|erf|erfc|erfinv"
    r"|erfcinv|erfcx|normcdf|normcdfinv|lgamma|tgamma|floor|ceil|round|rint|nearbyint|trunc|fmod"
    r"|remainder|copysign|fmin|fmax|fdim|fma|fdivide|nextafter|j0|j1|y0|y1)f?"
    r"|(?:lround|lrint|llround|llrint)f?|u?(?:ll)?(?:min|max)|clamp|lerp|bit_cast"
    r"|make_\w+|h(?:exp|exp2|exp10|log|log2|log10|sin|cos|sqrt|rsqrt|rcp|floor|ceil|rint|trunc)"
    r"|h2(?:exp|exp2|log|log2|sin|cos|sqrt|rsqrt|rcp)|tanh_approx"
    r"|__(?:float|double|half|hilo|longlong|int|uint|ull|ll|ushort|short|bfloat|nv|low|high|h|f|d|u"
    r"|expf|exp10f|logf|log2f|log10f|sinf|cosf|tanf|powf|tanhf|saturatef|brev|clz|ffs|popc"
    r"|byte_perm|funnelshift|sad|mul|rhadd|v|dp[24]a)\w*"
    r"|float|double|half|__half|__half2|int|unsigned|char|short|long|bool|__nv_bfloat16|size_t"
    r"|u?int(?:8|16|32|64)_t|float[234]|int[234]|uint[234]|double2|half2"
    r"|static_cast|kbs_expf?|kbs_exp_by_two|kbs_\w+f|KBS_LITERAL|kbs_real)\Z"
)
"""Functions of the language and of CUDA's headers whose value hangs on their arguments alone."""


def words_of(view: View, nodes: list[Node]) -> set[str]:
    """Every name that stands in ``nodes``, in macros and in functions of the file behind them."""
    seen: set[str] = set()
    texts = [_without_comments(view, node) for node in nodes]
    while texts:
        new = set(_WORD.findall(texts.pop())) - seen
        seen |= new
        for name in new:
            texts += view.macros.get(name, ())
            texts += [_without_comments(view, one) for one in _device(view, name)]
    return seen


def macro_words(view: View, nodes: list[Node]) -> set[str]:
    """Every name in the macros that stand in ``nodes``, and in the macros behind those."""
    found: set[str] = set()
    left = {word for node in nodes for word in _WORD.findall(_without_comments(view, node))}
    while left:
        texts = [text for name in left for text in view.macros.get(name, ())]
        new = {word for text in texts for word in _WORD.findall(text)}
        left = new - found
        found |= new
    return found


def _device(view: View, name: str) -> list[Node]:
    found = view.functions.get(name, ())
    return [one for one in found if "__global__" not in view.code(one).split("{", 1)[0]]


def reached(view: View, node: Node) -> list[Node]:
    """``node`` and every function of the file for the device that it reaches, in order."""
    words = words_of(view, [node])
    found = [one for name in view.functions for one in _device(view, name) if name in words]
    return [node, *(one for one in found if one != node)]


def strange_call(view: View, nodes: list[Node]) -> str | None:
    """A function called, directly or behind another, that neither the file nor the list shows."""
    seen: set[str] = set()
    left = list(nodes)
    while left:
        for call in view.tree.walk(left.pop(), "call_expression"):
            name = called_name(view, call)
            if name in seen:
                continue
            seen.add(name)
            left += view.functions.get(name, ())
            known = name in view.functions or name in view.macros or _BY_VALUE.match(name)
            if not known:
                return name or "what it computes"
    return None


def called_name(view: View, call: Node) -> str:
    """Name of a called function without its scope and template arguments; empty for others."""
    called = call.child_by_field_name("function")
    return plain_name(view.tree, called) if called is not None else ""


def fits_a_macro(view: View, call: Node) -> bool:
    """Return whether the one argument of a call stays one when a macro takes the call's place."""
    listed = call.child_by_field_name("arguments")
    inside = view.tree.walk(
        listed, "template_argument_list", "initializer_list", "lambda_expression"
    )
    return not any("," in view.code(node) for node in inside)


def takes_by_value(view: View, call: Node, place: int) -> bool:
    """Return whether a call cannot change its argument number ``place``."""
    called = call.child_by_field_name("function")
    name = called_name(view, call)
    if called is None or called.type == "field_expression":
        return False
    if name.endswith("_cast"):
        return "&" not in view.code(called) and "*" not in view.code(called)
    if name in view.macros:
        return not any(_CHANGES.search(text) for text in view.macros[name])
    if name in view.functions:
        return all(_by_value(view, one, place) for one in view.functions[name])
    return _BY_VALUE.match(name) is not None


def _by_value(view: View, function: Node, place: int) -> bool:
    listed = list(parameters(function))
    if place >= len(listed):
        return False
    text = view.code(listed[place])
    return "&" not in text or text.lstrip().startswith("const ")


def parameters(function: Node) -> Iterator[Node]:
    """Declarations of a function's own parameters."""
    here = function.child_by_field_name("declarator")
    while here is not None and here.type != "function_declarator":
        here = here.child_by_field_name("declarator")
    listed = here.child_by_field_name("parameters") if here is not None else None
    for child in listed.children if listed is not None else ():
        if child.type in {"parameter_declaration", "optional_parameter_declaration"}:
            yield child


def _without_comments(view: View, node: Node) -> str:
    parts, at = [], node.start_byte
    for comment in view.tree.walk(node, "comment", "string_literal"):
        parts.append(view.data[at : comment.start_byte].decode())
        at = comment.end_byte
    return " ".join([*parts, view.data[at : node.end_byte].decode()])
