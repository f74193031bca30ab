"""Log lines of requests that clients got wrong."""

import io
import logging
from typing import Any, cast

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.utils.module_loading import import_string
from pytest_django import Settings

from projects import invitations
from projects.credentials import invitation_tokens
from projects.models import Project, Role, User

pytestmark = pytest.mark.django_db
LOGGING = cast("dict[str, Any]", django_settings.LOGGING)


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


def test_links_of_invitations_are_not_logged(
    client: Client, alice: User, project: Project, log: io.StringIO, settings: Settings
) -> None:
    """A link that somebody else opened while signed in still works."""
    settings.SENDS_MAIL = True
    (row,) = invitations.create(project, ["lena@acme.example"], Role.ADMIN, actor=alice)
    client.force_login(User.objects.create_user("eve@acme.example"))
    token = invitation_tokens.make(row)
    assert client.get(f"/invitations/{token}").status_code == 403
    without_csrf = Client(enforce_csrf_checks=True)
    assert without_csrf.post(f"/invitations/{token}").status_code == 403
    assert token not in log.getvalue()
    assert log.getvalue().count("/invitations/[token]") == 2
