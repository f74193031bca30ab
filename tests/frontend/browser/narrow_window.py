"""Narrow windows, in which only tables scroll sideways."""

from playwright.sync_api import Page

_FITS = "() => document.documentElement.scrollWidth <= window.innerWidth"


def require_fit(page: Page) -> None:
    """Narrow the window, and wait until the page fits: charts follow a resize after a frame."""
    page.set_viewport_size({"width": 360, "height": 740})
    page.wait_for_function(_FITS)
