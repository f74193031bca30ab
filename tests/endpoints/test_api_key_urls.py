"""Access control of every URL that takes API keys: none, foreign, wrong scope, right scope."""

from dataclasses import dataclass

import pytest
from django.urls import get_resolver

from api.management.routes import RESOURCES, route
from api.urls import urlpatterns
from ingest.cloud_profiler.endpoint import URLCONF
from tests.ingest.client import DEPLOYMENT, HANDSHAKE, Client, assert_error_response

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True)
class Address:
    method: str
    path: str  # after the project's part
    message: dict[str, object] | None
    scope: str  # "write", "read" or "any"
    root: str = "/v2/projects"

    def __str__(self) -> str:
        return f"{self.method} {self.root}/…{self.path}"

    def ask(self, client: Client, project: str) -> tuple[int, str]:
        """Return status and google.rpc code of the response; the code is empty for a success."""
        path = f"{self.root}/{project}{self.path}"
        response = client.request(self.method, path, json=self.message)
        if response.status_code >= 400:
            code = response.json()["error"]["status"]
            assert_error_response(response, response.status_code, code)
            return response.status_code, code
        return response.status_code, ""


API = "/api/v1/projects"
SELECTING = ("tree", "top", "compare", "history", "series", "profiles", "insights")
LISTS = ("services", "deployments", "annotations", "regressions")
ADDRESSES = [
    Address("POST", "/profiles", HANDSHAKE, "write"),
    Address("GET", "/profiles", None, "read"),
    Address("PATCH", "/profiles/unknown", {"profileBytes": "aGVsbG8="}, "write"),
    Address("POST", "/profiles:createOffline", {"deployment": DEPLOYMENT}, "write"),
    Address("POST", "/capture", {"service": "a", "type": "CPU"}, "any", API),
    *(Address("GET", f"/{name}?service=a&type=CPU", None, "read", API) for name in SELECTING),
    *(Address("GET", f"/{name}", None, "read", API) for name in LISTS),
    Address("GET", "/functions?find=a", None, "read", API),
    Address("GET", "/pgo?service=a", None, "read", API),
    Address("POST", "/annotations", {"text": "deploy 2"}, "write", API),
    Address("DELETE", "/annotations/1", None, "write", API),
]
# Responses to the messages above with the right key.
WELCOME = {
    "POST /v2/projects/…/profiles": (200, ""),
    "GET /v2/projects/…/profiles": (200, ""),
    "PATCH /v2/projects/…/profiles/unknown": (404, "NOT_FOUND"),
    "POST /v2/projects/…/profiles:createOffline": (400, "INVALID_ARGUMENT"),
    "POST /api/v1/projects/…/capture": (409, "FAILED_PRECONDITION"),
    "POST /api/v1/projects/…/annotations": (201, ""),
    "DELETE /api/v1/projects/…/annotations/1": (404, "NOT_FOUND"),
    f"GET {API}/…/functions?find=a": (200, ""),
    f"GET {API}/…/pgo?service=a": (400, "INVALID_ARGUMENT"),  # without profiles
    **{f"GET {API}/…/{name}?service=a&type=CPU": (200, "") for name in SELECTING},
    **{f"GET {API}/…/{name}": (200, "") for name in LISTS},
}

each = pytest.mark.parametrize("address", ADDRESSES, ids=str)


def test_the_table_has_every_address_that_django_serves() -> None:
    assert len(get_resolver(URLCONF).url_patterns) == 1  # GET and POST of …/profiles share one
    # Those for personal access tokens have a table of their own (tests/api/management).
    others = {"api/v1/openapi.json"} | {route(each) for each in RESOURCES}
    paths = [str(pattern.pattern) for pattern in urlpatterns]
    # GET and POST of …/annotations share one.
    listed = len([each for each in ADDRESSES if each.root == API]) - 1
    assert len([path for path in paths if path not in others]) == listed


@pytest.mark.one_database
@each
def test_request_without_a_key_is_401_or_404(address: Address, agent: Client) -> None:
    response = address.ask(Client(agent.project), agent.project)
    # An upload needs no key, because its name is signed and cannot be guessed.
    expected = (404, "NOT_FOUND") if address.method == "PATCH" else (401, "UNAUTHENTICATED")
    assert response == expected


@pytest.mark.one_database
@each
def test_a_wrong_key_is_401(address: Address, agent: Client) -> None:
    wrong = Client(agent.project, agent.key[:-1] + "!")
    assert address.ask(wrong, agent.project) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize("path", ["/v2/projects/-/profiles", f"{API}/-/tree", f"{API}/-/services"])
def test_nul_in_a_key_is_400(path: str, agent: Client) -> None:
    response = Client(agent.project).request("GET", f"{path}?key=a%00")
    assert_error_response(response, 400, "INVALID_ARGUMENT", "key: may not have the character NUL")


@each
def test_another_tenant_finds_nothing(address: Address, agent: Client, stranger: Client) -> None:
    assert address.ask(stranger, agent.project) == (404, "NOT_FOUND")
    assert address.ask(stranger, "no-such-project") == (404, "NOT_FOUND")


@pytest.mark.one_database
@each
def test_the_wrong_scope_is_403(address: Address, agent: Client, reader: Client) -> None:
    wrong = {"write": reader, "read": agent}.get(address.scope)
    if wrong:
        assert address.ask(wrong, agent.project) == (403, "PERMISSION_DENIED")


@each
def test_key_with_the_scope_is_accepted(address: Address, agent: Client, reader: Client) -> None:
    right = {"write": [agent], "read": [reader], "any": [agent, reader]}[address.scope]
    for client in right:
        assert address.ask(client, agent.project) == WELCOME[str(address)]
        assert address.ask(client, "-") == WELCOME[str(address)]
