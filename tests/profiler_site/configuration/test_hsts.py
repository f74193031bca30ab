"""HSTS of a server behind TLS, as a browser receives it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
PROGRAM = """
import django
django.setup()
from django.test import Client
print(Client(headers={"host": "flamewatch.example.org"}).get("/", secure=True)
    .headers.get("Strict-Transport-Security", "none"))
"""


@pytest.mark.parametrize(
    ("variables", "header"),
    [
        ({}, "max-age=31536000"),
        ({"FLAMEWATCH_HSTS_SUBDOMAINS": "yes"}, "max-age=31536000; includeSubDomains"),
        ({"FLAMEWATCH_URL": "http://flamewatch.example.org"}, "none"),
    ],
)
def test_hsts_covers_the_host_unless_asked_for_more(
    variables: dict[str, str], header: str, tmp_path: Path
) -> None:
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
        "FLAMEWATCH_DATA_DIR": str(tmp_path),
        "FLAMEWATCH_URL": "https://flamewatch.example.org",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == header, done.stderr
