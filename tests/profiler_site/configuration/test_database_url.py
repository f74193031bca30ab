"""Options in the URL of the database."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
PROGRAM = """
import django, json
django.setup()
from django.conf import settings
print(json.dumps(settings.DATABASES["default"]["OPTIONS"]))
"""


def test_tls_options_of_the_url_are_merged_with_the_defaults(tmp_path: Path) -> None:
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
        "FLAMEWATCH_DATA_DIR": str(tmp_path),
        "DATABASE_URL": "postgres://shop@db.example/x?sslmode=verify-full&sslrootcert=/ca.pem",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    options = json.loads(done.stdout)
    assert options["sslmode"] == "verify-full"
    assert options["sslrootcert"] == "/ca.pem"
    assert options["options"] == "-c synchronous_commit=on"
