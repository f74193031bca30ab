"""Server with profiles of two versions, one function of which is slower in the second."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.server import RunningServer, Tenant, running_server

_STORE = """
from tests.client.stored_versions import store_versions
store_versions()
"""


@dataclass(frozen=True, slots=True)
class CheckServer:
    server: RunningServer
    tenant: Tenant
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """Variables of a job of CI with an API key that may read."""
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": "client/src",
            "XDG_CONFIG_HOME": str(self.home),
            "FLAMEWATCH_URL": self.server.url,
            "FLAMEWATCH_KEY": self.tenant.read,
        }

    def check(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `flamewatch check` for the service of the profiles."""
        command = [sys.executable, "-m", "flamewatch_client.main", "check", "--service", "shop"]
        return subprocess.run(
            [*command, *arguments],
            env=self.environment | variables,
            text=True,
            capture_output=True,
            check=False,
        )


@pytest.fixture(scope="module")
def check_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckServer]:
    with running_server() as server:
        tenant = server.add_tenant()
        server.run_code(_STORE)
        yield CheckServer(server, tenant, tmp_path_factory.mktemp("home"))
