"""Counter of the clicks that a task takes."""

from playwright.sync_api import Locator, Page

MOST_CLICKS = 5


class Clicks:
    """Clicks of one task, which fail above five; a choice in a menu of the browser is one click."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def click(self, target: Locator) -> None:
        self._add()
        target.click()

    def right_click(self, target: Locator) -> None:
        self._add()
        target.click(button="right")

    def choose(self, menu: Locator, value: str) -> None:
        self._add()
        menu.select_option(value)

    def _add(self) -> None:
        self.count += 1
        assert self.count <= MOST_CLICKS, f"The task takes more than {MOST_CLICKS} clicks."
