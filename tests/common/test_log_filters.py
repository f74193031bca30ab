"""Log lines of requests that clients got wrong."""

import io
import logging
from typing import Any, cast

import pytest
from django.conf import settings
from django.test import Client
from django.utils.module_loading import import_string

from projects.models import Project, User

pytestmark = pytest.mark.django_db
LOGGING = cast("dict[str, Any]", settings.LOGGING)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Return what the server's handler writes for records of Django."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    for name in LOGGING["handlers"]["stderr"]["filters"]:
        handler.addFilter(import_string(LOGGING["filters"][name]["()"])())
    monkeypatch.setattr(logging.getLogger("django"), "handlers", [handler])
    return stream


def test_foreign_host_is_logged_without_a_traceback(client: Client, log: io.StringIO) -> None:
    assert client.get("/account/login/", headers={"host": "evil.example"}).status_code == 400
    assert "evil.example" in log.getvalue()
    assert "Traceback" not in log.getvalue()


def test_forbidden_page_is_logged_without_a_traceback(
    client: Client, bob: User, project: Project, log: io.StringIO
) -> None:
    client.force_login(bob)
    address = "/p/acme-shop/settings/keys"
    assert client.post(address).status_code == 403
    assert "Forbidden" in log.getvalue()
    assert "Traceback" not in log.getvalue()


def test_failure_of_the_server_keeps_its_traceback() -> None:
    record = logging.makeLogRecord({"status_code": 500, "exc_info": (ValueError, None, None)})
    log_filter = import_string(LOGGING["filters"]["client_errors"]["()"])()
    assert log_filter.filter(record)
    assert record.exc_info is not None
