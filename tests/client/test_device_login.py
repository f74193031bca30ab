"""`flamewatch login` by a code that a person confirms in the console of a running server."""

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.server import PASSWORD, RunningServer, running_server

pytestmark = pytest.mark.slow

EMAIL = "mara@acme.example"


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as server:
        server.add_project(email=EMAIL)
        yield server


@pytest.fixture
def login(server: RunningServer, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": "client/src",
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    command = [sys.executable, "-m", "flamewatch_client.main", "login", server.url, "--json"]
    with subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        yield process
        process.kill()


def sign_in(server: RunningServer) -> requests.Session:
    session = requests.Session()
    address = f"{server.url}/account/login/"
    session.get(address, timeout=30)
    post(session, address, login=EMAIL, password=PASSWORD)
    return session


def post(session: requests.Session, address: str, **form: str) -> str:
    form["csrfmiddlewaretoken"] = session.cookies.get("csrftoken") or ""
    response = session.post(address, form, headers={"Referer": address}, timeout=30)
    assert response.status_code == 200, response.text
    return response.text


def read_link(login: subprocess.Popen[str]) -> tuple[str, str]:
    assert login.stderr
    link = login.stderr.readline().removeprefix("Open ").strip()
    found = re.search(r"[A-Z]{4}-[A-Z]{4}", login.stderr.readline())
    assert found
    assert link.endswith(f"/device?code={found[0]}")
    return link, found[0]


def test_command_gets_a_token_of_the_person_with_the_chosen_scopes(
    server: RunningServer, login: subprocess.Popen[str], tmp_path: Path
) -> None:
    link, code = read_link(login)
    session = sign_in(server)
    assert code in session.get(link, timeout=30).text
    form = {"code": code, "decision": "approve", "name": "laptop", "scopes": "read", "days": "7"}
    assert "Program signed in" in post(session, f"{server.url}/device", **form)
    output, _ = login.communicate(timeout=30)
    assert json.loads(output) == {"url": server.url, "email": EMAIL, "scopes": ["read"]}
    path = tmp_path / "flamewatch" / "login.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["token"] not in output
    log = server.log.read_text()
    assert "/device/token" not in log  # polls are no errors
    assert "fwp_" not in log


def test_command_fails_if_the_person_denies(
    server: RunningServer, login: subprocess.Popen[str]
) -> None:
    _, code = read_link(login)
    post(sign_in(server), f"{server.url}/device", code=code, decision="deny")
    _, errors = login.communicate(timeout=30)
    assert login.returncode == 1
    assert "The sign-in was denied." in errors
