"""schemathesis on a running server: requests made from the contract, and what they return.

Beside our own random requests it compares which requests are accepted, headers and media types, and
follows the identifiers that responses name.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server import RunningServer, running_server

PROJECT = "acme-shop"
SECONDS = 1800
# The token of the run itself is not to be revoked.
NOT_REQUESTED = "/api/v1/tokens/{token}"
# The contract does not say all that a value has to satisfy: a service exists, times are in order.
# Requests without a credential have their own tests.
NOT_CHECKED = "positive_data_acceptance,missing_required_header"


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with running_server(FLAMEWATCH_QUERIES_PER_MINUTE="1000000") as server:
        yield server


@pytest.mark.server
@pytest.mark.nightly
@pytest.mark.timeout(2 * SECONDS)
def test_responses_are_those_of_the_contract(server: RunningServer, tmp_path: Path) -> None:
    assert server.add_project() == PROJECT
    settings = tmp_path / "schemathesis.toml"
    settings.write_text(f'[parameters]\n"path.project" = "{PROJECT}"\n')
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            *("--config-file", str(settings), "run", f"{server.url}/api/v1/openapi.json"),
            *("--header", f"Authorization: Bearer {server.add_token()}"),
            *("--exclude-path", NOT_REQUESTED, "--exclude-checks", NOT_CHECKED),
            *("--max-time", str(SECONDS), "--continue-on-failure"),
        ],
        cwd=tmp_path,
        env=os.environ | {"NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    assert "Authentication failed" not in done.stdout  # else nothing was tested
