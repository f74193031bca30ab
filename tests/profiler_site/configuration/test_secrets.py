"""Passwords in URLs of services, which no output shows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import RequestFactory
from django.views.debug import ExceptionReporter
from pytest_django import Settings

# Use everything that has a password, and print the traceback of each error.
PROGRAM = """
import asyncio, logging, traceback
import django
django.setup()
logging.getLogger().setLevel("DEBUG")
from django.conf import settings
from django.core.cache import caches
from django.db import connection
from common.minute_counter import counter
from profiler_site.celery import app
from profiles.queries.cache import result_cache

def publish():
    with app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, interval_start=0)

uses = [
    connection.ensure_connection,
    lambda: caches["default"].get("key"),
    lambda: asyncio.run(counter().increment(1, 1, 1)),
    lambda: result_cache().get("key"),
    publish,
]
for use in uses:
    try:
        use()
    except Exception:
        traceback.print_exc()
"""


def output(program: str, folder: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ
        | {"DJANGO_SETTINGS_MODULE": "profiler_site.settings", "FLAMEWATCH_DATA_DIR": str(folder)}
        | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.slow
def test_errors_of_services_that_do_not_answer_have_no_password(tmp_path: Path) -> None:
    said = output(
        PROGRAM,
        tmp_path,
        DATABASE_URL="postgres://shop:hush@127.0.0.1:1/flamewatch",
        REDIS_URL="redis://shop:hush@127.0.0.1:1/0",
    )
    assert said.count("Traceback") >= 3
    assert "hush" not in said


@pytest.mark.parametrize("name", ["DATABASE_URL", "REDIS_URL"])
def test_a_traceback_of_the_settings_has_no_password(tmp_path: Path, name: str) -> None:
    said = output("import django; django.setup()", tmp_path, **{name: "x://shop:hu/sh@db/x"})
    assert f"{name} has to begin with" in said
    assert "hu/sh" not in said


def test_debug_pages_have_no_url_of_a_service(settings: Settings) -> None:
    settings.DATABASE_URL = settings.REDIS_URL = settings.BLOB_URL = "redis://shop:hush@db/0"
    settings.CACHES = settings.CACHES | {"other": {"LOCATION": ["redis://shop:hush@db/0"]}}
    try:
        raise RuntimeError("a failure")
    except RuntimeError as error:
        request = RequestFactory().get("/")
        reporter = ExceptionReporter(request, type(error), error, error.__traceback__)
    assert "hush" not in str(reporter.get_traceback_data()["settings"])
