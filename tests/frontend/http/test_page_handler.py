"""Pages through ASGI: a bounded thread pool, fair sharing, cancellation on disconnect."""

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import path

from common.fair_threads import FairThreads
from frontend.http import page_client, page_handler
from frontend.http.page_handler import LIGHT_PAGES
from profiles.queries import concurrency
from profiles.queries.concurrency import LIMITS
from profiles.query import QueryContext
from projects.models import Project, User
from tests.frontend.page_browser import Browser, flame, signed_in, until

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]
HTML = (b"accept", b"text/html")


def check(request: HttpRequest) -> None:
    """Raise DeadlinePassed if the request's client is gone."""
    context: QueryContext | None = getattr(request, "query_context", None)
    if context is not None:
        context.check()


class BlockingView:
    """View that blocks until the test releases it or the request is cancelled."""

    def __init__(self) -> None:
        self.threads: list[str] = []
        self.started: list[str] = []
        self.ended: list[str] = []
        self.open = threading.Event()

    def __call__(self, request: HttpRequest, rest: str) -> HttpResponse:
        self.threads.append(threading.current_thread().name)
        self.started.append(request.path)
        try:
            while not self.open.is_set():
                check(request)
                time.sleep(0.001)
        finally:
            self.ended.append(request.path)
        return HttpResponse("a page")


class StreamingView(BlockingView):
    """View with a first part at once, and a second one when the test releases it."""

    def __call__(self, request: HttpRequest, rest: str) -> HttpResponseBase:  # type: ignore[override]
        return StreamingHttpResponse(self._parts(request, rest))

    def _parts(self, request: HttpRequest, rest: str) -> Iterator[str]:
        yield "the head, "
        yield super().__call__(request, rest).content.decode()
        if rest.endswith("broken"):
            raise ValueError("broken")


view = BlockingView()
urlpatterns = [path("<path:rest>", lambda request, rest: view(request, rest))]  # noqa: PLW0108  each test replaces `view`


@pytest.fixture(autouse=True)
def pages(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    settings.ROOT_URLCONF = __name__
    monkeypatch.setattr(f"{__name__}.view", BlockingView())
    monkeypatch.setattr(concurrency, "_threads", FairThreads("flamewatch-query", LIMITS))
    monkeypatch.setattr(page_handler, "_light_pages", FairThreads("flamewatch-page", LIGHT_PAGES))
    yield
    view.open.set()


@pytest.fixture
def streaming_view(pages: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.view", StreamingView())


def _flames(project: Project, count: int) -> list[str]:
    """Return different paths of the page, so that the test can tell its requests apart."""
    return [f"{flame(project)}/{number}" for number in range(count)]


async def _ask(browser: Browser) -> "asyncio.Task[Browser]":
    return asyncio.create_task(browser.get())


async def _request_first_part(browser: Browser) -> "asyncio.Task[Browser]":
    """Request a page of StreamingView, and return when the browser has its first part."""
    request = await _ask(browser)
    await until(lambda: len(browser.sent) == 2)
    assert browser.text == "the head, "
    return request


def test_members_share_the_limit_of_their_project_and_strangers_have_their_own(
    project: Project, alice: User, charlie: User
) -> None:
    member, outsider = signed_in(alice), signed_in(charlie)

    async def many() -> None:
        requests = [await _ask(Browser(flame(project), member)) for _ in range(20)]
        await until(lambda: len(view.threads) == LIMITS.running_of_client)
        other = await _ask(Browser(flame(project), outsider))  # a share of their own
        await until(lambda: len(view.threads) == LIMITS.running_of_client + 1)
        sign_in = await _ask(Browser("/account/login/"))
        await until(lambda: view.threads[-1].startswith("flamewatch-page"))
        view.open.set()
        done = await asyncio.gather(*requests, other, sign_in)
        assert {(each.status, each.text) for each in done} == {(200, "a page")}
        assert len(set(view.threads)) <= LIMITS.threads + 1

    asyncio.run(many())


def test_request_over_the_queue_limit_gets_429_in_the_accepted_format(
    project: Project, alice: User
) -> None:
    member = signed_in(alice)

    async def many() -> None:
        threads: Any = concurrency._threads
        first = LIMITS.running_of_client
        requests = [await _ask(Browser(flame(project), member)) for _ in range(first)]
        await until(lambda: len(view.started) == first)
        # Only now, because until a thread takes them, the first requests fill the queue too.
        count = LIMITS.waiting_of_tenant
        requests += [await _ask(Browser(flame(project), member)) for _ in range(count)]
        await until(lambda: threads.waiting == LIMITS.waiting_of_tenant)
        page = await Browser(flame(project), member, HTML).get()
        assert page.status == 429
        assert int(page.headers[b"retry-after"]) > 0
        assert "<h1>The server is busy</h1>" in page.text
        assert f"{LIMITS.waiting_of_tenant} requests" in page.text
        tree = await Browser(flame(project) + "/tree", member).get()
        assert tree.status == 429
        assert tree.text.startswith('{"error": ')
        view.open.set()
        await asyncio.gather(*requests)

    asyncio.run(many())


def test_a_closed_browser_ends_its_query_and_leaves_the_queue(
    project: Project, alice: User
) -> None:
    member = signed_in(alice)

    async def many() -> None:
        browsers = {path: Browser(path, member) for path in _flames(project, 10)}
        requests = [await _ask(browser) for browser in browsers.values()]
        threads: Any = concurrency._threads
        await until(lambda: threads.waiting == 10 - LIMITS.running_of_client)
        await until(lambda: len(view.started) == LIMITS.running_of_client)
        running = [browsers.pop(path) for path in view.started]
        # Those in the queue first: otherwise the end of the running query may start one of them
        # before the event loop has seen that its browser is closed too.
        for browser in browsers.values():
            browser.close()
        await until(lambda: threads.waiting == 0)
        assert not view.ended
        for browser in running:
            browser.close()
        await asyncio.gather(*requests)
        await until(lambda: len(view.ended) == LIMITS.running_of_client)
        await until(lambda: threads.is_idle)
        assert not any(browser.sent for browser in [*running, *browsers.values()])
        assert len(view.started) == LIMITS.running_of_client

    asyncio.run(many())


@pytest.mark.usefixtures("streaming_view")
def test_the_first_part_is_sent_before_the_second_is_made(project: Project, alice: User) -> None:
    browser = Browser(flame(project), signed_in(alice))

    async def get() -> None:
        request = await _request_first_part(browser)
        assert not view.open.is_set()
        view.open.set()
        await request
        assert (browser.status, browser.text) == (200, "the head, a page")
        assert not browser.sent[-1].get("more_body")

    asyncio.run(get())


@pytest.mark.usefixtures("streaming_view")
def test_a_streamed_page_ends_with_its_browser(project: Project, alice: User) -> None:
    browser = Browser(flame(project), signed_in(alice))

    async def get() -> None:
        request = await _request_first_part(browser)
        browser.close()
        await request
        await until(lambda: len(view.ended) == 1)

    asyncio.run(get())


@pytest.mark.usefixtures("streaming_view")
def test_a_streamed_page_that_fails_is_cut_off(project: Project, alice: User) -> None:
    view.open.set()
    browser = Browser(f"{flame(project)}/broken", signed_in(alice))
    with pytest.raises(ValueError, match="broken"):
        asyncio.run(browser.get())
    assert browser.sent[-1].get("more_body")


def test_a_page_that_waits_too_long_gets_an_error(
    project: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_handler, "WAIT_SECONDS", 0.5)
    member = signed_in(alice)

    async def many() -> None:
        requests = [await _ask(Browser(flame(project), member)) for _ in range(2)]
        await until(lambda: len(view.threads) == LIMITS.running_of_client)
        late = await Browser(flame(project), member, HTML).get()
        assert late.status == 503
        assert "waited more than 0 s" in late.text
        view.open.set()
        await asyncio.gather(*requests)

    asyncio.run(many())


def test_form_over_the_body_limit_gets_413() -> None:
    browser = Browser("/account/login/", body=(b"x" * 2**20, b"x"))
    asyncio.run(browser.get())
    assert browser.status == 413
    assert "1,048,576 bytes" in browser.text


def test_session_is_cached_between_requests(project: Project, alice: User) -> None:
    member, loads = signed_in(alice), list[str]()
    real = page_client._load_member
    view.open.set()

    def load(key: tuple[str, str]) -> tuple[int, int]:
        loads.append(key[1])
        return real(key)

    async def many() -> None:
        for _ in range(3):
            await Browser(flame(project), member).get()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_client._members, "_load", load)
        asyncio.run(many())
    assert loads == [project.project_id]
