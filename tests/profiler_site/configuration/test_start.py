"""Starts with wrong settings, which the server refuses or warns of, as processes."""

import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import orjson
import pytest

from tests import services
from tests.server import COMMAND, server_in
from tests.services import S3, free_port

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]


def start(
    folder: Path, command: str = "up", **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run a command that ends by itself."""
    ours = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    arguments = ["--port", str(free_port())] if command == "up" else []
    return subprocess.run(
        [*COMMAND, command, *arguments],
        env=ours
        | {"FLAMEWATCH_DATA_DIR": f"{folder}/data", "FLAMEWATCH_GRPC_PORT": "0"}
        | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


wrong_values = pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("BLOB_URL", "gs://x", "BLOB_URL has to be file:///folder or s3://bucket"),
        ("FLAMEWATCH_URL", "flamewatch.example.org", "FLAMEWATCH_URL has to be an address like"),
        ("FLAMEWATCH_POLL_TIMEOUT_SECONDS", "0", "it must be a number of seconds, 0.01 or more"),
        ("FLAMEWATCH_SECRET_KEY", "short", "FLAMEWATCH_SECRET_KEY has 5 characters; it needs 16"),
        ("FLAMEWATCH_LOG_LEVEL", "LOUD", "FLAMEWATCH_LOG_LEVEL is 'LOUD'; allowed values: DEBUG"),
        ("FLAMEWATCH_LOG_FORMAT", "xml", "FLAMEWATCH_LOG_FORMAT is 'xml'; allowed values: text"),
        ("FLAMEWATCH_SIGNUPP", "closed", "Did you mean FLAMEWATCH_SIGNUP?"),
    ],
)


@wrong_values
def test_value_that_cannot_be_used_stops_the_start_with_a_sentence(
    name: str, value: str, said: str, tmp_path: Path
) -> None:
    done = start(tmp_path, **{name: value})
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@wrong_values
def test_doctor_names_a_value_that_cannot_be_used(
    name: str, value: str, said: str, tmp_path: Path
) -> None:
    done = start(tmp_path, "doctor", **{name: value})
    assert done.returncode == 1
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_bucket_and_credentials_are_checked_before_the_start(s3_server: S3, tmp_path: Path) -> None:
    right = s3_server.environment()
    store = {"BLOB_URL": s3_server.url, **right}
    wrong_secret = start(tmp_path, **(store | {"AWS_SECRET_ACCESS_KEY": "another"}))
    assert wrong_secret.returncode == 1
    assert "rejects the credentials for the bucket flamewatch" in wrong_secret.stderr
    assert "another" not in wrong_secret.stderr
    wrong_key = start(tmp_path, **(store | {"AWS_ACCESS_KEY_ID": "nobody"}))
    assert "rejects the credentials for the bucket flamewatch" in wrong_key.stderr
    missing = start(
        tmp_path, **(store | {"BLOB_URL": s3_server.url.replace("flamewatch?", "another-bucket?")})
    )
    assert missing.returncode == 1
    assert "The bucket another-bucket does not exist" in missing.stderr


def test_services_that_may_recover_are_warned_of(tmp_path: Path) -> None:
    away = f"127.0.0.1:{free_port()}"
    environment = {
        "BLOB_URL": f"s3://flamewatch?endpoint=http://{away}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "REDIS_URL": f"redis://{away}/0",
        "FLAMEWATCH_OTHER_THING": "1",
    }
    with server_in(tmp_path, checkout=None, **environment) as server:
        log = server.log.read_text()
    assert f"The blob store at http://{away} does not respond" in log
    assert "Redis does not respond" in log
    assert "FLAMEWATCH_OTHER_THING is no setting of this version" in log


def test_doctor_finds_nothing_wrong_with_a_default_installation(tmp_path: Path) -> None:
    assert start(tmp_path, "migrate").returncode == 0
    done = start(tmp_path, "doctor")
    assert done.returncode == 0, done.stdout
    lines = [line.split()[:2] for line in done.stdout.splitlines()]
    assert ["ok", "settings"] in lines
    assert ["ok", "database"] in lines
    assert ["ok", "migrations"] in lines
    assert not [line for line in lines if line[0] == "failed"]


def test_doctor_tests_all_services_and_says_what_to_do(s3_server: S3, tmp_path: Path) -> None:
    store = {"BLOB_URL": s3_server.url, **s3_server.environment()}
    with services.redis(tmp_path) as url:
        done = start(tmp_path, "doctor", REDIS_URL=url, **store)
        assert "ok       redis" in done.stdout
        assert "ok       blob store" in done.stdout
        assert "warning  migrations" in done.stdout
        assert "warning  beat" in done.stdout
        assert done.returncode == 0, done.stdout
    away = start(tmp_path, "doctor", REDIS_URL=url, **(store | {"AWS_SECRET_ACCESS_KEY": "no"}))
    assert away.returncode == 1
    assert "failed   redis        Redis does not respond" in away.stdout
    assert "failed   blob store   The blob store rejects the credentials" in away.stdout
    assert "Traceback" not in away.stderr


def test_json_log_has_one_object_in_each_line(tmp_path: Path) -> None:
    program = (
        "import django, logging, warnings; django.setup()\n"
        "logging.getLogger('uvicorn.error').error('one\\ntwo %s', 3)\n"
        "warnings.warn('old')\n"
        "try: 1 / 0\n"
        "except ZeroDivisionError: logging.getLogger('celery').exception('failed')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ
        | {
            "FLAMEWATCH_DATA_DIR": str(tmp_path),
            "FLAMEWATCH_LOG_FORMAT": "json",
            "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    first, second, third = map(orjson.loads, done.stderr.splitlines())
    assert (first["logger"], first["level"]) == ("uvicorn.error", "ERROR")
    assert first["message"] == "one\ntwo 3"
    assert second["logger"] == "py.warnings"
    assert "ZeroDivisionError: division by zero" in third["exception"]
    assert datetime.fromisoformat(third["time"]).tzinfo is not None
