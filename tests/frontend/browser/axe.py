"""Accessibility violations found by axe-core, a development dependency that is not shipped."""

from pathlib import Path

from playwright.sync_api import Page

_SOURCE = Path(__file__).parents[3] / "node_modules" / "axe-core" / "axe.min.js"


def violations(page: Page) -> list[str]:
    """Return one line per violation: the rule and the element."""
    assert _SOURCE.exists(), "these tests need axe-core: npm ci"
    if not page.evaluate("'axe' in window"):
        page.evaluate(_SOURCE.read_text())
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{each['id']}: {node['html'][:160]} ({node['failureSummary']})"
        for each in found["violations"]
        for node in each["nodes"]
    ]
