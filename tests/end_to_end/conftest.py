"""One real server for the onboarding of a user, with the agent's files that it serves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import agent_files
from tests.server import RunningServer, running_server


@pytest.fixture(scope="session")
def built_agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agent")
    agent_files.build(folder)
    return folder / "files"


@pytest.fixture
def server(built_agent: Path) -> Iterator[RunningServer]:
    with running_server(FLAMEWATCH_AGENT_FILES_DIR=str(built_agent)) as running:
        yield running
