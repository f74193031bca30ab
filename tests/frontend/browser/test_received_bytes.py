"""Bytes that a browser receives from a real server for the flame page, and again on a return."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page

from tests.frontend.browser.flame_page import drawn
from tests.server import PASSWORD, RunningServer, Tenant, running_server

pytestmark = [pytest.mark.slow]
SMALL = 2000  # bytes that compression hardly makes fewer
STATIC = {"Script", "Stylesheet"}


@dataclass(slots=True)
class Received:
    """Response as the browser's network stack reports it."""

    url: str
    kind: str  # resource type of the DevTools protocol
    encoding: str
    cache_control: str
    size: int = 0  # bytes on the wire, with headers
    length: int = 0  # of the body, decoded


class ReceivedResponses:
    """Responses that a page has received since the last `take`."""

    def __init__(self, page: Page, accepted: str) -> None:
        self._by_id: dict[str, Received] = {}
        session = self._session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.setExtraHTTPHeaders", {"headers": {"Accept-Encoding": accepted}})
        session.on("Network.responseReceived", self._begin)
        session.on("Network.dataReceived", self._add)
        session.on("Network.loadingFinished", self._end)

    def clear_cache(self) -> None:
        self._session.send("Network.clearBrowserCache")

    def take(self) -> list[Received]:
        """Return what was received since the last call."""
        found = [each for each in self._by_id.values() if each.url.startswith("http")]
        self._by_id = {}
        return found

    def _begin(self, event: dict[str, Any]) -> None:
        response = event["response"]
        headers = {name.lower(): value for name, value in response["headers"].items()}
        self._by_id[event["requestId"]] = Received(
            response["url"],
            event["type"],
            headers.get("content-encoding", ""),
            headers.get("cache-control", ""),
        )

    def _add(self, event: dict[str, Any]) -> None:
        if found := self._by_id.get(event["requestId"]):
            found.length += event["dataLength"]

    def _end(self, event: dict[str, Any]) -> None:
        if found := self._by_id.get(event["requestId"]):
            found.size = event["encodedDataLength"]


@pytest.fixture(scope="module")
def real_server() -> Iterator[tuple[RunningServer, Tenant]]:
    with running_server() as server:
        tenant = server.add_tenant()
        stacks = "\n".join(f"main;handler_{i};parse;read_{i} {i + 1}" for i in range(200))
        imported = httpx.post(
            f"{server.url}/api/v1/projects/-/profiles:import",
            params={"service": "shop", "type": "CPU"},
            content=stacks,
            headers={"Authorization": f"Bearer {tenant.write}"},
        )
        assert imported.status_code in {200, 201}, imported.text
        yield server, tenant


@pytest.mark.parametrize("accepted", ["gzip, deflate", "gzip, deflate, br, zstd"])
def test_flame_page_is_received_compressed_and_its_files_once(
    page: Page, real_server: tuple[RunningServer, Tenant], accepted: str
) -> None:
    server, tenant = real_server
    page.goto(f"{server.url}/account/login/")
    page.get_by_label("E-mail").fill("alice@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Password").press("Enter")
    page.wait_for_url("**/p/**")
    recorder = ReceivedResponses(page, accepted)
    recorder.clear_cache()
    flame = f"{server.url}/p/{tenant.project}/flame?service=shop&type=CPU"
    page.goto(flame)
    drawn(page)
    page.wait_for_load_state("networkidle")
    first = recorder.take()
    large = [each for each in first if each.length > SMALL and each.kind != "Image"]
    assert {"Document", "Script", "Stylesheet"} <= {each.kind for each in large}
    for each in large:
        best = "br" if each.kind in STATIC else "zstd" if "/flame/tree" in each.url else "gzip"
        assert each.encoding == (best if best in accepted else "gzip"), each
        assert each.size < each.length, each
    files = [each for each in first if each.kind in STATIC]
    assert sum(each.size for each in files) < sum(each.length for each in files) / 2.5
    assert all("immutable" in each.cache_control for each in files)

    page.goto(f"{server.url}/p/{tenant.project}/services")
    recorder.take()
    page.goto(flame)
    drawn(page)
    page.wait_for_load_state("networkidle")
    again = recorder.take()
    assert sum(each.size for each in again if each.kind in STATIC) == 0
