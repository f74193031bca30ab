"""Templates lose their indentation, and nothing that is shown."""

import re
from pathlib import Path

import pytest

from frontend.rendering.template_loader import compact

TEMPLATES = Path(__file__).parents[3] / "frontend" / "templates"


@pytest.mark.parametrize(
    ("template", "compacted"),
    [
        ("<p>\n  one\n  <b>two</b>\n</p>\n", "<p>\none\n<b>two</b>\n</p>\n"),
        ("<tr>\n  <td>one</td>\n  <td>two</td>\n</tr>\n", "<tr><td>one</td><td>two</td></tr>"),
        ("{% load i18n %}\n<p>one</p>\n", "{% load i18n %}<p>one</p>\n"),
        (
            "<p>\n  {% if two %}\n    two\n  {% else %}\n    three\n  {% endif %}\n  four\n</p>",
            "<p>\n{% if two %}two\n{% else %}three\n{% endif %}four\n</p>",
        ),
        ("one {% if two %}two{% endif %}\nthree", "one {% if two %}two{% endif %}\nthree"),
        ('<a {% change "x" "" %}\n   href="">', '<a {% change "x" "" %}\nhref="">'),
    ],
)
def test_line_breaks_remain_only_between_elements_and_words(template: str, compacted: str) -> None:
    assert compact(template) == compacted


def test_no_template_has_a_line_break_where_it_is_shown() -> None:
    shown = re.compile(r"<(pre|textarea)\b[^>]*>(.*?)</\1>", re.DOTALL)
    found = [
        (path.name, content)
        for path in TEMPLATES.rglob("*.html")
        for _, content in shown.findall(path.read_text())
        if "\n" in content
    ]
    assert found == []


def test_lines_of_templates_are_short() -> None:
    long = [
        f"{path.relative_to(TEMPLATES)}:{number}"
        for path in TEMPLATES.rglob("*.html")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > 160
    ]
    assert long == []
