"""docs/gate.md holds the rules as they are."""

from __future__ import annotations

import importlib
import pkgutil

from kbs_engine.gate import RULES, rules
from kbs_engine.gate.page import rules_markdown
from tests.conftest import ROOT

PAGE = ROOT / "docs/gate.md"


def test_the_table_is_the_registry():
    """Where it differs, paste what ``rules_markdown`` prints."""
    text = PAGE.read_text(encoding="utf-8")
    shown = text.split("<!-- rules -->\n")[1].split("<!-- /rules -->")[0].strip()
    assert shown == rules_markdown()


def test_one_module_per_rule_and_every_module_is_listed():
    names = [info.name for info in pkgutil.iter_modules(rules.__path__)]
    assert sorted(RULES) == sorted(names)
    for name in names:
        module = importlib.import_module(f"kbs_engine.gate.rules.{name}")
        assert module.RULE.id == name
        assert RULES[name] is module.RULE
