"""Run the examples of docs/reference/api.md and compare responses; require one for every URL."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

import pytest

from api.management.routes import RESOURCES, route
from api.urls import urlpatterns
from profiles.query import ExportFormat
from projects.models import Annotation, Project
from tests.findings.factory import CHECKS, add_finding
from tests.ingest.client import Client
from tests.paths import ROOT
from tests.profiles import rows
from tests.profiles.pprofs import EXAMPLE, pprof, with_start_lines

pytestmark = [pytest.mark.one_database, pytest.mark.django_db(transaction=True)]

DOCS = ROOT / "docs" / "reference" / "api.md"
_EXAMPLE = re.compile(
    r"```sh\n(curl [^`]*)```\n(?:\n```(?:json|csv|text)\n([^`]*)```\n)?",
)


@dataclass(frozen=True)
class DocumentedCommand:
    """One curl command of the documentation, and its response ("" where none is shown)."""

    command: str
    output: str

    def __str__(self) -> str:
        found = re.search(r"/projects/[^/]+/(\w+)", self.command)
        return found[1] if found else self.command

    @property
    def words(self) -> list[str]:
        return shlex.split(self.command.replace("\\\n", " "))

    def ask(self, key: str) -> bytes:
        curl, *words = self.words
        assert curl == "curl"
        headers, params, url = {}, [], ""
        while words:
            word = words.pop(0)
            if word == "-H":
                name, _, value = words.pop(0).partition(": ")
                headers[name] = value.replace("$KEY", key)
            elif word == "--data-urlencode":
                name, _, value = words.pop(0).partition("=")
                params.append((name, value))
            elif word == "-o":
                words.pop(0)
            elif word != "-G":
                assert word.startswith("$FLAMEWATCH/"), word
                url = word.removeprefix("$FLAMEWATCH")
        params += parse_qsl(urlsplit(url).query)
        response = Client("").request("GET", urlsplit(url).path, params=params, headers=headers)
        assert response.status_code == 200, response.text
        return response.content


def examples() -> Iterator[DocumentedCommand]:
    for command, response in _EXAMPLE.findall(DOCS.read_text()):
        if "-X POST" not in command:
            yield DocumentedCommand(command, response)


@pytest.fixture
def shop(project: Project) -> None:
    """Store the profiles that the examples query."""
    of = rows.deployment(project)
    raw = with_start_lines(pprof(EXAMPLE, duration_nanos=10 * 10**9))
    rows.stored_raw(of, raw, name_id="p1", labels={"instance": "web-1"})
    rows.stored(of, name_id="p2", minutes=1, labels={"instance": "web-2"})
    rows.stored(rows.deployment(project, version="2"), name_id="p3", minutes=2)
    copies = {"main;shop.copy_cart;copy.deepcopy": 1_240, "main;shop.price": 8_760}
    rows.stored(of, copies, name_id="p4", minutes=-3 * 24 * 60)
    Annotation.objects.create(
        pk=31,
        project=project,
        at=datetime(2026, 11, 20, 12, 2, tzinfo=UTC),
        service="shop",
        version="2",
        text="deploy 2",
        link="https://ci.example/builds/31",
        created_key="fw_abcdefghij",
    )
    add_finding(project, finding_id="3f2a90c17b5e", checks=CHECKS[:1], merged=[])
    Annotation.objects.update(created=datetime(2026, 11, 20, 12, 3, tzinfo=UTC))


@pytest.mark.parametrize("example", list(examples()), ids=str)
def test_an_example_returns_the_documented_output(
    example: DocumentedCommand, shop: None, reader: Client
) -> None:
    response = example.ask(reader.key)
    if example.output.startswith("{"):
        assert json.loads(response) == json.loads(example.output)
    elif example.output:
        assert response.decode().splitlines() == example.output.splitlines()


def test_the_import_returns_the_documented_fields(agent: Client) -> None:
    said = DOCS.read_text().partition("## `profiles:import`")[2]
    [(command, output)] = _EXAMPLE.findall(said)
    url = shlex.split(command.replace("\\\n", " "))[-1].removeprefix("$FLAMEWATCH")
    response = agent.request("POST", url, content=b"main;work 3\nmain 1\n").json()
    documented = json.loads(output)
    assert response.keys() == documented.keys()
    ours, theirs = response["profiles"][0], documented["profiles"][0]
    assert ours.keys() == theirs.keys()
    same = ("type", "service", "duration", "samples", "metrics")
    assert [ours[name] for name in same] == [theirs[name] for name in same]


def test_every_address_and_form_has_an_example() -> None:
    said = DOCS.read_text()
    managed = {route(resource) for resource in RESOURCES} | {"api/v1/openapi.json"}
    for pattern in urlpatterns:
        if str(pattern.pattern) in managed:
            continue
        name = str(pattern.pattern).removesuffix("/<int:annotation>").rpartition("/")[2]
        assert f"## `{name}`" in said
        assert name == "capture" or any(f"/{name}" in example.command for example in examples())
    for form in ExportFormat:
        assert any(f"format={form}" in example.command for example in examples())


def test_every_management_resource_is_documented_with_its_methods() -> None:
    said = (DOCS.parent / "management-api.md").read_text()
    for resource in RESOURCES:
        path = re.sub(r"<\w+:(\w+)>", r"{\1}", f"/{route(resource)}")
        for method in resource.actions:
            assert f"| `{method} {path}` |" in said
