"""Names from strangers in reports."""

import pytest

from flamewatch_client.check_report import CheckReport, escape_markdown
from flamewatch_client.check_verdict import (
    ChangeKind,
    CheckLimits,
    CheckVerdict,
    ComparedCost,
    JudgedChange,
)

TOTAL = ComparedCost("total", "", 2e9, 3e9, 0.5e9, 1.5e9, 1e-6)


def build_report(*names: str, size: int = 20) -> CheckReport:
    costs = [ComparedCost(name, "a.py", 0.0, 1e9, 0.9e9, 1.1e9, 1e-6) for name in names]
    changes = tuple(JudgedChange(ChangeKind.ADDED, cost) for cost in costs)
    verdict = CheckVerdict(CheckLimits(), 12, 12, TOTAL, ChangeKind.REGRESSION, changes, 1)
    return CheckReport(
        *(verdict, "shop", "CPU", "nanoseconds", "1", "2|3", "https://a.example/p/a/compare"),
        notes=("Left out: *all*",),
        size=size,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a|b", "a&#124;b"),
        ("`a`", "&#96;a&#96;"),
        ("<b>&amp;", "&#60;b&#62;&#38;amp&#59;"),
        ("__init__", "&#95;&#95;init&#95;&#95;"),
        ("@all #1", "&#64;all &#35;1"),
        ("https://a.b", "https&#58;&#47;&#47;a.b"),
        ("www.a.b", "www&#46;a.b"),
        ("a\n| b", "a�&#124; b".replace("�", "&#65533;")),
        ("größe (1)", "größe (1)"),
    ],
)
def test_markup_becomes_text(text: str, expected: str) -> None:
    assert escape_markdown(text) == expected


def test_rows_of_markdown_have_all_columns_whatever_the_name() -> None:
    markdown = build_report("a|b\n|c|`d", "e" * 500).render_markdown()
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {7}
    assert f"<code>{'e' * 200}…</code>" in markdown.replace("&#8230;", "…")
    assert "2&#124;3" in markdown
    assert "&#42;all&#42;" in markdown


def test_total_alone_is_a_regression(capsys: pytest.CaptureFixture[str]) -> None:
    build_report("\x1b[31mred").print_table()
    text = capsys.readouterr().out
    assert "regression of the total\n" in text
    assert "\x1b" not in text
    assert "new" in text


def test_changes_beyond_the_size_are_counted() -> None:
    markdown = build_report("a", "b", "c", size=1).render_markdown()
    assert "Changes that are not listed: 2." in markdown
    assert "<code>b</code>" not in markdown
