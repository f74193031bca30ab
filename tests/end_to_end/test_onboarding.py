"""Onboarding of a new user: sign up, paste the commands, see the flame graph."""

import html
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.end_to_end.browser_forms import browser, post
from tests.paths import ROOT
from tests.server import PASSWORD, RunningServer
from tests.waiting import until

pytestmark = [pytest.mark.server, pytest.mark.timeout(400)]
STATUS = "/p/acme-shop/setup/status"
EXAMPLE = ROOT / "examples" / "main_foo_bar.py"


def text_of(page: str, element: str) -> str:
    """Return the text of the element with this id, as a user would select and copy it."""
    found = re.search(rf'<(\w+)[^>]*\bid="{element}"[^>]*>(.*?)</\1>', page, re.DOTALL)
    assert found, f"no element {element}"
    return html.unescape(re.sub(r"<[^>]+>", "", found[2]))


@pytest.fixture
def newcomer(server: RunningServer) -> httpx.Client:
    """Return a user who has just signed up and created the project Acme Shop."""
    client = browser(server)
    response = post(
        client,
        "/account/signup/",
        email="mara@acme.example",
        password1=PASSWORD,
        project="Acme Shop",
    )
    assert response.url.path == "/p/acme-shop/setup", response.text
    return client


def run_as_pasted(lines: str, folder: Path, bin: Path, **environment: str) -> str:
    """Run pasted commands in a shell that has only an empty Python environment."""
    done = subprocess.run(
        ["/bin/bash", "-e"],
        input=lines,
        cwd=folder,
        env={"PATH": f"{bin}:/usr/bin:/bin", "HOME": str(folder)} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def empty_environment(tmp_path: Path) -> Path:
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return folder / "bin"


def shown_lines(newcomer: httpx.Client) -> str:
    """Create a key and return the set-up page, which shows the key only this once."""
    token = newcomer.cookies["csrftoken"]
    return newcomer.post("/p/acme-shop/setup", data={"csrfmiddlewaretoken": token}).text


def opened_by(newcomer: httpx.Client, lines: str, folder: Path, bin: Path) -> httpx.Response:
    """Run these commands, and return the flame graph that the set-up page links to meanwhile."""
    link = re.compile(r'href="(/p/acme-shop/flame\?[^"]+)"')
    with subprocess.Popen(
        ["/bin/bash", "-c", lines],
        cwd=folder,
        env={"PATH": f"{bin}:/usr/bin:/bin", "HOME": str(folder)},
        start_new_session=True,
    ) as program:
        try:
            found = until(lambda: link.search(newcomer.get(STATUS).text), 120, "first profile")
            return newcomer.get(html.unescape(found[1]))
        finally:
            os.killpg(program.pid, signal.SIGTERM)


def test_pasted_commands_lead_to_the_first_flame_graph(
    newcomer: httpx.Client, empty_environment: Path, tmp_path: Path
) -> None:
    assert "Waiting for agent" in newcomer.get(STATUS).text
    page = shown_lines(newcomer)
    run_as_pasted(text_of(page, "install-lines"), tmp_path, empty_environment)
    (tmp_path / "app.py").write_text(EXAMPLE.read_text())
    flame = opened_by(newcomer, text_of(page, "run-lines"), tmp_path, empty_environment)
    assert flame.status_code == 200
    assert "foo1" in flame.text


def test_pasted_code_leads_to_the_first_flame_graph(
    newcomer: httpx.Client, empty_environment: Path, tmp_path: Path
) -> None:
    page = shown_lines(newcomer)
    run_as_pasted(text_of(page, "install-lines"), tmp_path, empty_environment)
    work = "\n\ndef busy():\n    while True:\n        sum(range(1000))\n\nbusy()\n"
    (tmp_path / "app.py").write_text(text_of(page, "code-lines") + work)
    exports = text_of(page, "run-lines").splitlines()[:2]
    lines = "\n".join([*exports, "python app.py"])
    flame = opened_by(newcomer, lines, tmp_path, empty_environment)
    assert "busy" in flame.text
