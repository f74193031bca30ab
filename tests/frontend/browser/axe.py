"""Accessibility violations found by axe-core, a development dependency that is not shipped."""

from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

_SOURCE = Path(__file__).parents[3] / "node_modules" / "axe-core" / "axe.min.js"


def violations(page: Page, without: Sequence[str] = ()) -> list[str]:
    """Return one line per violation outside the selectors `without`: the rule and the element."""
    assert _SOURCE.exists(), "these tests need axe-core: npm ci"
    if not page.evaluate("'axe' in window"):
        page.evaluate(_SOURCE.read_text())
    found = page.evaluate(
        "without => axe.run({ exclude: without }, { resultTypes: ['violations'] })",
        [[selector] for selector in without],
    )
    return [
        f"{each['id']}: {node['html'][:160]} ({node['failureSummary']})"
        for each in found["violations"]
        for node in each["nodes"]
    ]
