"""Pages while the database is not available."""

import logging
from typing import Any

import pytest
from django.db import connection
from django.db.utils import InterfaceError, OperationalError
from django.test import Client

from projects.models import Project, User

pytestmark = pytest.mark.django_db


def fail(error: Exception) -> Any:
    def execute(*_arguments: object) -> Any:
        raise error

    return connection.execute_wrapper(execute)


@pytest.mark.parametrize("kind", [OperationalError, InterfaceError])
@pytest.mark.parametrize("page", ["/", "/p/acme-shop/services", "/p/acme-shop/flame?service=a"])
def test_unavailable_database_gets_503_without_a_traceback(
    kind: type[Exception],
    page: str,
    client: Client,
    alice: User,
    project: Project,
    caplog: pytest.LogCaptureFixture,
) -> None:
    client.force_login(alice)
    client.raise_request_exception = False
    with fail(kind("no route to host")), caplog.at_level(logging.INFO):
        for _ in range(5):
            response = client.get(page, headers={"accept": "text/html"})
            assert response.status_code == 503
            assert "The database is not available" in response.content.decode()
            assert response.headers["Retry-After"] == "5"
    (record,) = (each for each in caplog.records if each.levelno >= logging.WARNING)
    assert record.getMessage() == "Pages were answered with 503: no route to host"
    assert record.exc_info is None


def test_other_errors_keep_their_traceback_and_page(
    client: Client, alice: User, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    client.force_login(alice)
    client.raise_request_exception = False
    with fail(ZeroDivisionError("a bug")):
        response = client.get("/p/acme-shop/services")
    assert response.status_code == 500
    assert "Server error" in response.content.decode()
    assert any(record.exc_info for record in caplog.records)
