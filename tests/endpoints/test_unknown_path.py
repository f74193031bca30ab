"""Programs get JSON for a path that does not exist, browsers the page."""

import asyncio

import httpx
import pytest

from profiler_site.asgi import application

pytestmark = [pytest.mark.one_database, pytest.mark.django_db]
BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8"


def request(method: str, path: str, accept: str = "*/*") -> httpx.Response:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(application)  # type: ignore[arg-type]
        address = "http://127.0.0.1:8000"
        async with httpx.AsyncClient(transport=transport, base_url=address) as client:
            return await client.request(method, path, headers={"accept": accept}, content=b"x")

    return asyncio.run(send())


@pytest.mark.parametrize("path", ["/v1/traces", "/vcs.v1.VCSService/GetFile"])
def test_a_program_gets_json_with_the_apis_of_this_server(path: str) -> None:
    response = request("POST", path)
    assert response.status_code == 404
    error = response.json()["error"]
    assert error["status"] == "NOT_FOUND"
    assert path in error["message"]
    assert "/v2/" in error["message"]
    assert error["details"][0]["retryDelay"]


def test_a_browser_gets_the_page() -> None:
    response = request("GET", "/nothing-here", BROWSER)
    assert response.status_code == 404
    assert response.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("path", ["/admin", "/account/login/", "/help/concepts"])
def test_pages_respond_to_programs_too(path: str) -> None:
    assert request("GET", path).status_code in {200, 301, 302}
