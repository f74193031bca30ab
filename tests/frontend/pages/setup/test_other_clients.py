"""Commands of clients other than the Python agent, with a project's values filled in."""

from pathlib import Path

import pytest
from pytest_django import Settings

from frontend.pages.setup.other_clients import OtherClient, other_clients

SERVER, KEY, PROJECT = "https://profiles.acme.example", "fw_key", "acme-shop"


@pytest.fixture
def clients(settings: Settings, tmp_path: Path) -> dict[str, OtherClient]:
    settings.AGENT_FILES_DIR = tmp_path
    for version in ("0.9.0", "0.10.0"):
        (tmp_path / f"flamewatch-agent-{version}.tgz").write_bytes(b"package")
        (tmp_path / f"flamewatch-agent-{version}.jar").write_bytes(b"package")
    return {client.id: client for client in other_clients(SERVER, KEY, PROJECT)}


def text(client: OtherClient) -> str:
    return "\n".join(step.text for step in client.steps)


def test_every_client_has_the_address_of_this_server(clients: dict[str, OtherClient]) -> None:
    assert [*clients] == ["go", "node", "java", "opentelemetry", "pyroscope", "cloud-profiler"]
    for client in clients.values():
        assert SERVER in text(client)


def test_commands_of_clients_with_a_key_contain_it(clients: dict[str, OtherClient]) -> None:
    with_key = [name for name, client in clients.items() if KEY in text(client)]
    # Cloud Profiler's agents read a key file.
    assert with_key == ["go", "node", "java", "opentelemetry", "pyroscope"]


def test_the_newest_package_is_installed(clients: dict[str, OtherClient]) -> None:
    assert f"npm install {SERVER}/agents/node/flamewatch-agent-0.10.0.tgz" in text(clients["node"])
    assert f"curl -O {SERVER}/agents/java/flamewatch-agent-0.10.0.jar" in text(clients["java"])


def test_cloud_profilers_agents_name_the_project(clients: dict[str, OtherClient]) -> None:
    cloud_profiler = text(clients["cloud-profiler"])
    assert 'project_id="acme-shop"' in cloud_profiler
    assert "apiEndpoint: 'profiles.acme.example'" in cloud_profiler


def test_agents_that_are_not_built_are_not_offered(settings: Settings, tmp_path: Path) -> None:
    settings.AGENT_FILES_DIR = tmp_path
    offered = {client.id for client in other_clients(SERVER, KEY, PROJECT)}
    assert not offered & {"node", "java"}
