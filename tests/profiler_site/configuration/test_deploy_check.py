"""`manage.py check --deploy` reports nothing for a server behind TLS."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def check(tmp_path: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"FLAMEWATCH_DATA_DIR": str(tmp_path)} | settings
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("mail", ["", "smtps://user:password@mail.example.org"])
def test_check_of_a_server_behind_tls_reports_nothing(tmp_path: Path, mail: str) -> None:
    done = check(
        tmp_path, FLAMEWATCH_URL="https://flamewatch.example.org", FLAMEWATCH_SMTP_URL=mail
    )
    assert done.returncode == 0, done.stderr
    assert "no issues (2 silenced)" in done.stdout


def test_check_with_debug_reports_the_security_warning(tmp_path: Path) -> None:
    done = check(tmp_path, FLAMEWATCH_URL="https://example.org", FLAMEWATCH_DEBUG="yes")
    assert done.returncode == 1
    assert "security.W018" in done.stderr


def test_check_with_a_bad_blob_url_names_the_unknown_option(tmp_path: Path) -> None:
    done = check(tmp_path, BLOB_URL="s3://bucket?endpont=https://s3.example")
    assert done.returncode == 1
    assert "E002" in done.stderr
    assert "endpont" in done.stderr
