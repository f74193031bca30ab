"""Real Chromium on a real server; any error on the browser's console fails the test."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.test import Client
from django.utils import timezone
from playwright.sync_api import ConsoleMessage, Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from projects.models import Project, User
from tests import services
from tests.frontend import shop

HERE = Path(__file__).parent

# The end of a test waits this long for requests that the page has begun.
REQUEST_SECONDS = 5.0
# A busy machine needs longer than the default of five seconds.
expect.set_options(timeout=20_000)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark browser tests and run them last, because Playwright's loop stays in their thread."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.browser)
    items.sort(key=lambda item: item.path.is_relative_to(HERE))


@pytest.fixture(scope="session", autouse=True)
def database_beside_playwright() -> Iterator[None]:
    """Let Django use the database in the tests, which Playwright's event loop makes look async."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield


@pytest.fixture(autouse=True)
def static_files(settings: Settings, collected_static_files: Path) -> None:
    """Serve collected static files; the live server looks for them with finders."""
    settings.STATIC_ROOT = collected_static_files
    settings.STATICFILES_DIRS = [collected_static_files]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, object]:
    return {
        "executable_path": services.browser(),
        "args": ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    }


@pytest.fixture(scope="session")
def browser_context_args(live_server: LiveServer) -> dict[str, object]:
    return {
        "base_url": live_server.url,
        "viewport": {"width": 1440, "height": 900},
        "timezone_id": "Europe/Berlin",
        "locale": "en-GB",
        "reduced_motion": "reduce",
        "color_scheme": "light",
    }


@pytest.fixture
def base_url(live_server: LiveServer) -> str:
    return str(live_server.url)


@pytest.fixture
def allowed_errors() -> list[str]:
    """Return parts of the console errors that are expected; a test appends its own.

    htmx logs each request that a newer one replaced.
    """
    return ["htmx:sendAbort", "htmx:afterRequest", "AbortError", "willReadFrequently"]


class RunningRequests:
    """Number of requests that the server's threads process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._number = 0

    def begin(self, **_: object) -> None:
        with self._changed:
            self._number += 1

    def end(self, **_: object) -> None:
        with self._changed:
            self._number -= 1
            self._changed.notify_all()

    def wait_for_end(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._number <= 0, REQUEST_SECONDS)
            self._number = 0


@pytest.fixture(scope="session")
def running_requests() -> Iterator[RunningRequests]:
    running = RunningRequests()
    request_started.connect(running.begin)
    request_finished.connect(running.end)
    yield running
    request_started.disconnect(running.begin)
    request_finished.disconnect(running.end)


@pytest.fixture
def page(
    page: Page, allowed_errors: list[str], running_requests: RunningRequests
) -> Iterator[Page]:
    errors: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            errors.append(f"{message.text} ({message.location.get('url', '')})")

    page.on("console", on_console)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    page.close()
    # A request that is cut off by the end of the database's use would leave its connection in a
    # transaction, and the next test's request on that thread would fail.
    running_requests.wait_for_end()
    unforeseen = [error for error in errors if not any(part in error for part in allowed_errors)]
    assert not unforeseen, "the browser's console has errors"


@pytest.fixture
def sign_in(page: Page, base_url: str) -> Callable[[User], None]:
    """Return a function that signs a user in without the form."""

    def sign_in(user: User) -> None:
        client = Client()
        client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
        name = settings.SESSION_COOKIE_NAME
        page.context.add_cookies(
            [{"name": name, "value": client.cookies[name].value, "url": base_url}]
        )

    return sign_in


@pytest.fixture
def url(project: Project, alice: User, sign_in: Callable[[User], None], base_url: str) -> str:
    """Return the URL of the flame page, with alice signed in."""
    sign_in(alice)
    return f"{base_url}/p/{project.project_id}/flame"


@pytest.fixture
def shop_url(project: Project, url: str) -> str:
    """Return the URL of the flame page, with thirty profiles of the shop stored."""
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 30))
    return url
