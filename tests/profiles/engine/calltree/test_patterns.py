"""Matching of filter values, and rejected values."""

import pytest

from insights.catalog import RULES
from profiles.engine.calltree.patterns import MAX_PATTERN, BadFilterPattern, matcher, set_matcher
from tests.insights.test_rules import STACKS


@pytest.mark.parametrize(
    ("value", "text", "found"),
    [
        ("foo", "a.foo.b", True),
        ("Foo", "a.foo.b", False),
        ("a.b", "axb", False),
        ("/a.b/", "axb", True),
        ("/^b/", "ab", False),
        ("/(?i)FOO/", "foo", True),
        ("/usr/lib", "/usr/lib/libc.so", True),
        ("//", "http://x", True),
        ("/é.é$/", "tété", True),
    ],
)
def test_pattern_matches_as_substring_or_regex(value: str, text: str, found: bool) -> None:
    assert matcher(value)(text) is found


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("", "^Empty filter: "),
        ("a" * (MAX_PATTERN + 1), "501 characters, and at most 500"),
        ("/a(/", r"Invalid regex /a\(/: missing \)\.$"),
        ("/(a)\\1/", "Invalid regex"),
        ("/\ud800/", "Invalid regex"),
        ("/((a{900}){900}){900}/", "Invalid regex"),
        ("/(\\pL{500}){2}/", "Invalid regex"),
    ],
)
def test_invalid_patterns_are_rejected(value: str, why: str) -> None:
    with pytest.raises(BadFilterPattern, match=why):
        matcher(value)


def test_an_expression_with_catastrophic_backtracking_ends() -> None:
    assert matcher("/^(a+)+$/")("a" * 100_000 + "b") is False


def test_set_of_patterns_matches_as_each_alone() -> None:
    rules = [value for rule in RULES for value in (rule.pattern.functions, rule.pattern.below)]
    values = tuple(dict.fromkeys(value for value in [*rules, "json.", "(*", "/é$/"] if value))
    names = {name for pair in STACKS.values() for stack in pair for name in stack.split(";")}
    for text in [
        *sorted(names),
        "",
        "runtime.(*mheap).alloc",
        "caf\u00e9",
        "json.\n",
        "x" * 10_000,
    ]:
        each = [number for number, value in enumerate(values) if matcher(value)(text)]
        assert sorted(set_matcher(values)(text)) == each, text
