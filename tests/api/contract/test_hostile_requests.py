"""Random requests to every operation of the contract: no 5xx, no undocumented response."""

import json
import random
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import pytest
from django.utils import timezone
from pytest_django import Settings

from api.contract.openapi import build_contract
from projects.models import Project, Role, User
from tests import sample_project
from tests.api.contract.test_contract import require_match
from tests.api.management.conftest import TokenClient, token_client

__all__ = ["token_client"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.real]

TEXTS = [
    *("", " ", "0", "-1", "1", "true", "null", "NaN", "Infinity", "-0", "1e400", "1e-400"),
    *(str(2**31), str(2**63), str(2**64), "9" * 400, "x" * 3000, "\N{FIRE}" * 100, "٣", "ﷺ" * 50),
    *("'; DROP TABLE x; --", '"', "\\", "%", "%00", "%s", "{}", "[]", "<script>", "../../etc"),
    *("\x01", "\x7f", "\x85", "\u202e", "\ufeff", "\ufffe", "a\nb", "a\r\nb: c", "(", "(a+)+$"),
    *("checkout", "checkout-api", "CPU", "WALL", "HEAP", "json", "csv", "pprof", "asc", "total"),
    *("1h", "6h", "1d", "30d", "400d", "-1h", "1e9h", "0s", "9999999999d", "1h30m", "now"),
    *("2026-11-27T10:00:00Z", "2026-11-27T10:00:00+23:59", "0001-01-01T00:00:00Z"),
    *("9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00", "2026-02-30", "1970-01-01T00:00Z"),
    *("viewer", "owner", "mara@acme.example", "https://127.0.0.1/", "https://x.example:99999/"),
    *("regression", "quota", "value", "silence", "fw_0123456789", "hide:a", "focus:(", "host:a=b"),
]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**70, -(2**63) - 1, 0.1, -0.0, 1e308, 1e-320),
    *([], {}, [[]], [None], [1], {"": None}, {"a": {"b": []}}, ["read"], ["regression"]),
    [{"name": "x"}],
    *TEXTS,
]
# Values that each operation accepts: a request has at most a few others, so that it gets past the
# first check.
SENSIBLE: dict[str, list[Any]] = {
    "service": ["checkout"],
    "type": ["CPU"],
    "span": ["6h", "1d"],
    "end": ["now", "2026-11-27T10:00:00Z"],
    "format": ["json", "csv", "pprof"],
    "function": ["Rule.matches"],
    "group_by": ["zone", "label.host"],
    "name": ["x"],
    "role": ["viewer"],
    "emails": [["a@acme.example"]],
    "scopes": [["read"]],
    "services": [["checkout"]],
    "expires": ["2099-01-01T00:00:00Z"],
    "limit": ["stored_bytes"],
    "amount": [10**12],
    "kind": ["quota"],
    "kinds": [["alert"]],
    "parameters": [{"quota": "", "percent": 80}, {"percent": "x"}],
    "url": ["https://chat.example.org/x"],
    "text": ["x"],
    "time": ["2026-11-27T10:00:00Z"],
    "currency": ["EUR"],
    "zones": [{"a": 1.5}],
    "rule": ["4e2a90c17b5f"],
    "member": ["1"],
    "size": ["5"],
    "page": ["1"],
    "step": ["1h"],
}
# Bodies that are not even JSON objects, or not JSON.
BODIES = [
    b"",
    b"null",
    b"[]",
    b'"',
    b"{",
    b"\xff\xfe",
    b'{"a":1,"a":2}',
    b'{"a":"\\ud800"}',
    b"[" * 5000,
]


class RandomRequest:
    """Path, query and body of an operation, drawn from hostile and from sensible values."""

    def __init__(self, draw: random.Random, path: str, operation: dict[str, Any], project: str):
        self.path, pairs = path, []
        for parameter in operation.get("parameters", ()):
            name = parameter["name"]
            if parameter["in"] == "path":
                text = draw_value(draw, name, TEXTS[1:])
                if name == "project":
                    text = project if draw.random() < 0.95 else text
                elif parameter["schema"].get("type") == "integer" and draw.random() < 0.7:
                    text = draw.choice(["1", "2", str(2**63 - 1), str(2**63), "0"])
                self.path = self.path.replace(f"{{{name}}}", quote(text, safe=""))
            elif draw.random() < (0.9 if parameter.get("required") else 0.15):
                count = draw.choice([1, 1, 1, 1, 1, 2])
                pairs += [
                    (name.replace("NAME", "host"), draw_value(draw, name, TEXTS))
                    for _ in range(count)
                ]
        draw.shuffle(pairs)
        self.query = "&".join(f"{quote(name)}={quote(value)}" for name, value in pairs)
        self.body = self._draw_body(draw, operation)

    @staticmethod
    def _draw_body(draw: random.Random, operation: dict[str, Any]) -> bytes | None:
        content = operation.get("requestBody", {}).get("content", {})
        if not content:
            return None
        if draw.random() < 0.1:
            return draw.choice(BODIES)
        schema = content.get("application/json", {}).get("schema", {})
        fields = [*schema.get("properties", {}), "unknown"]
        chosen = [field for field in fields if draw.random() < (0.1 if field == "unknown" else 0.7)]
        return json.dumps({field: draw_value(draw, field, VALUES) for field in chosen}).encode()

    def __str__(self) -> str:
        return f"{self.path}?{self.query} {(self.body or b'')[:300]!r}"


def draw_value(draw: random.Random, name: str, hostile: Sequence[Any]) -> Any:
    sensible = SENSIBLE.get(name.removeprefix("b."))
    return draw.choice(sensible if sensible and draw.random() < 0.75 else hostile)


def list_operations() -> list[tuple[str, str]]:
    """Return paths and methods; those that may remove the person of the token come last."""
    paths = build_contract()["paths"]
    found = [(path, method) for path, methods in paths.items() for method in methods]
    return sorted(found, key=lambda each: "/members/" in each[0])


@pytest.fixture
def furnished(project: Project, alice: User) -> None:
    now = timezone.now()
    sample_project.services(project, now)
    sample_project.findings(project, alice, "3f2a90c17b5e", now)
    sample_project.alerts(project, alice, "4e2a90c17b5f", now)


@pytest.mark.usefixtures("furnished")
@pytest.mark.parametrize("count", [8, pytest.param(300, marks=pytest.mark.nightly)])
def test_responses_are_documented_and_no_request_fails_the_server(
    token_client: TokenClient, project: Project, settings: Settings, count: int
) -> None:
    """Send `count` requests to each operation; report all that went wrong."""
    settings.QUERIES_PER_MINUTE = 10**9
    contract = build_contract()
    error = contract["components"]["schemas"]["Error"]
    client = token_client(Role.OWNER)
    problems, successes, requests = [], 0, 0
    for path, method in list_operations():
        operation = contract["paths"][path][method]
        draw = random.Random(f"{path} {method}")
        for _ in range(count):
            request = RandomRequest(draw, path, operation, project.project_id)
            response = client.request(
                method.upper(),
                f"{request.path}?{request.query}",
                content=request.body,
                headers={"Content-Type": "application/json"},
            )
            status = response.status_code
            requests += 1
            successes += status < 300
            if status >= 500:
                problems.append(f"{status} {method} {request}: {response.text[:300]}")
            elif status >= 400:
                try:
                    require_match(response.json(), error, "error")
                except (AssertionError, ValueError, KeyError) as wrong:
                    problems.append(f"{status} {method} {request}: {wrong!r} {response.text[:200]}")
            elif str(status) not in operation["responses"]:
                problems.append(f"{status} {method} {request}: is not documented")
    assert not problems, "\n".join(problems)
    assert successes > requests / 5  # requests get past the first check
