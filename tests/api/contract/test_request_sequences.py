"""Random sequences of changes by people of all roles: each is applied as a whole, or not at all.

Later requests use the ids that earlier responses had, also those of what was deleted since.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import pytest
from pytest_django import Settings

from api.contract.openapi import build_contract
from projects.models import Member, Project, Role, User
from tests.api.contract.test_contract import require_match
from tests.api.contract.test_hostile_requests import VALUES, draw_value
from tests.api.management.conftest import TokenClient, token_client
from tests.ingest.client import Client

__all__ = ["token_client"]

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.real]
PREFIX = "/api/v1/projects/{project}"
# Whose rows, and the argument that names one of them in a path.
COLLECTIONS = {
    f"{PREFIX}/alert-rules": "rule",
    f"{PREFIX}/annotations": "annotation",
    f"{PREFIX}/deletions": "job",
    f"{PREFIX}/exports": "job",
    f"{PREFIX}/invitations": "invitation",
    f"{PREFIX}/keys": "key",
    f"{PREFIX}/members": "member",
    f"{PREFIX}/quota-requests": "",
    f"{PREFIX}/webhooks": "webhook",
}
DOCUMENTS = (PREFIX, f"{PREFIX}/prices")
# Written by the requests themselves, or by time.
VOLATILE = {"last_used", "last_used_from", "evaluated", "progress", "resets_in_s"}
ACTORS = (*(Role.OWNER,) * 6, *(Role.ADMIN,) * 3, Role.MEMBER, Role.VIEWER, None)
BODY_VALUES: dict[str, list[Any]] = {
    "enabled": [True, False],
    "email": [True, False],
    "subscribed_webhooks": [True, False],
    "retention_days": [1, 30],
    "reason": ["more services"],
    "kind": ["quota"],
    "parameters": [{"quota": "", "percent": 80}, {"quota": "stored_bytes", "percent": 50}],
    "zone": [""],
    "days": [30],
    "start": ["2026-11-01T00:00:00Z"],
    "end": ["2026-11-27T10:00:00Z", "2026-11-28T10:00:00+01:00"],
    "time": [None],  # now, so that the list has it
    "link": ["https://ci.example/1"],
    "emails": [[], ["a@acme.example"], ["b@acme.example", "c@acme.example"]],
}


class RequestSequence:
    """Requests whose paths and bodies name objects of earlier responses."""

    def __init__(self, seed: int, project: str, senders: Collection[str]) -> None:
        self.draw = random.Random(seed)
        self.project = project
        self.senders = senders  # members who stay as they are, so that requests go on
        self.ids: dict[str, list[str]] = defaultdict(list)  # by argument

    def note(self, argument: str, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            text = str(row["id"])
            if argument and text not in self.ids[argument] and text not in self.senders:
                self.ids[argument].append(text)

    def fill_path(self, path: str) -> str:
        def fill(match: re.Match[str]) -> str:
            name = match[1]
            if name == "project":
                return self.project
            found = self.ids[name][-8:]  # the latest, of which some are still there
            is_made = found and self.draw.random() < 0.95
            text = self.draw.choice(found) if is_made else self.draw.choice(["none", "0", "%00"])
            return quote(text, safe="")

        return re.sub(r"\{(\w+)\}", fill, path)

    def draw_body(self, operation: Mapping[str, Any]) -> bytes | None:
        content = operation.get("requestBody", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema")
        if schema is None:
            return None
        required = schema.get("required", ())
        body = {
            name: self._draw_field(name, field.get("enum", ()))
            for name, field in schema.get("properties", {}).items()
            if self.draw.random() < (0.97 if name in required else 0.25)
        }
        return json.dumps(body).encode()

    def _draw_field(self, name: str, allowed: Sequence[str]) -> Any:
        if self.draw.random() < 0.08 and name != "time":
            return self.draw.choice(VALUES)
        if allowed and name not in BODY_VALUES:
            return self.draw.choice(allowed)
        if name == "webhooks":
            return self.draw.sample(self.ids["webhook"][-4:], min(1, len(self.ids["webhook"])))
        if name == "name":
            return f"n{self.draw.randrange(10**6)}"
        values = BODY_VALUES.get(name)
        return self.draw.choice(values) if values else draw_value(self.draw, name, VALUES)


def list_changes(contract: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the paths and methods of the operations that change a project."""
    left_out = {f"{PREFIX}/capture", f"{PREFIX}/profiles:import"}  # they change no collection
    return [
        (path, method)
        for path, methods in sorted(contract["paths"].items())
        if path.startswith(PREFIX) and path not in left_out
        for method in methods
        if method != "get"
    ]


def read_documents(
    client: Client, sequence: RequestSequence, paths: Collection[str]
) -> dict[str, Any]:
    """Return the documents and collections at these paths, and note their ids."""
    found: dict[str, Any] = {}
    for path in paths:
        parameters = "?span=1d&size=1000" if path.endswith("/annotations") else ""
        response = client.request("GET", path.format(project=client.project) + parameters)
        assert response.status_code == 200, (path, response.text)
        document = response.json()
        rows = document.get("rows")
        if rows is not None and path in COLLECTIONS:
            sequence.note(COLLECTIONS[path], [row for row in rows if "id" in row])
            document = rows
        found[path] = _drop_volatile(document)
    return found


def _drop_volatile(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _drop_volatile(each)
            for name, each in value.items()
            if name not in VOLATILE | {"start", "end"}
        }
    return [_drop_volatile(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("steps", [200, pytest.param(9000, marks=pytest.mark.nightly)])
def test_changes_are_applied_as_a_whole_or_not_at_all(
    token_client: TokenClient, project: Project, settings: Settings, steps: int
) -> None:
    settings.QUERIES_PER_MINUTE = 10**9
    settings.INVITATIONS_PER_DAY = settings.MAX_KEYS_PER_PROJECT = 10**6
    contract = build_contract()
    error = contract["components"]["schemas"]["Error"]
    watching = token_client(Role.OWNER)
    clients = {role: token_client(role) for role in dict.fromkeys(ACTORS)}
    senders = {str(pk) for pk in Member.objects.values_list("pk", flat=True)}
    sequence = RequestSequence(steps, project.project_id, senders)
    for number in range(20):
        user = User.objects.create_user(f"m{number}@token.example")
        Member.objects.create(project=project, user=user, role=Role.values[number % 4])
    changes = list_changes(contract)
    additions = [(path, "post") for path in COLLECTIONS if (path, "post") in changes]
    successes = rejections = 0
    everything = (*DOCUMENTS, *COLLECTIONS)
    before = read_documents(watching, sequence, everything)
    for step in range(steps):
        is_new = sequence.draw.random() < 0.4
        path, method = sequence.draw.choice(additions if is_new else changes)
        operation = contract["paths"][path][method]
        address, body = sequence.fill_path(path), sequence.draw_body(operation)
        actor = sequence.draw.choice(ACTORS)
        response = clients[actor].request(
            method.upper(), address, content=body, headers={"Content-Type": "application/json"}
        )
        said = f"{actor} {method} {address} {body!r}: {response.status_code}"
        own = [each for each in everything if path.startswith(each)]
        paths = everything if step % 10 == 9 else own
        after = before | read_documents(watching, sequence, paths)
        assert response.status_code < 500, f"{said} {response.text[:300]}"
        if response.status_code >= 400:
            require_match(response.json(), error, said)
            assert after == before, said
            rejections += 1
        else:
            documented = operation["responses"][str(response.status_code)]
            schema = documented.get("content", {}).get("application/json", {}).get("schema")
            if schema is not None:
                require_match(response.json(), schema, said)
            if response.status_code == 201 and path in COLLECTIONS:
                _require_new_row(response.json(), before[path], after[path], said)
            assert actor is not None, said
            successes += 1
        before = after
    assert successes > steps / 6
    assert rejections > steps / 6
    assert (
        set(COLLECTIONS.values()) - {"", *(name for name, ids in sequence.ids.items() if ids)}
        == set()
    )


def _require_new_row(document: dict[str, Any], before: Any, after: Any, where: str) -> None:
    """Require that a list has a new row, whose fields are those of the response to its creation."""
    if not isinstance(after, list):
        return
    ids = {row["id"] for row in before}
    new = {row["id"]: row for row in after if row["id"] not in ids}
    made = document.get("rows", [document])  # an invitation for each address
    assert new.keys() == {row["id"] for row in made}, where
    for row in made:
        for name in new[row["id"]].keys() & row.keys():
            assert new[row["id"]][name] == _drop_volatile(row[name]), (where, name)
