"""The `flamewatch` command."""

import io
import json

import pytest

from profiler_site.cli.main import main
from projects import keys
from projects.models import ApiKey, Member, User

pytestmark = pytest.mark.django_db
PASSWORD = "a sentence works well"


def add_user(monkeypatch: pytest.MonkeyPatch, *arguments: str, password: str = PASSWORD) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(password + "\n"))
    return main(["user", "create", "alice@example.org", "--password-stdin", *arguments])


def test_it_adds_a_user_who_can_sign_in(monkeypatch: pytest.MonkeyPatch) -> None:
    assert add_user(monkeypatch) == 0
    user = User.objects.get(email="alice@example.org")
    assert user.check_password(PASSWORD)
    assert not user.is_superuser


def test_admin_makes_a_superuser(monkeypatch: pytest.MonkeyPatch) -> None:
    assert add_user(monkeypatch, "--admin") == 0
    assert User.objects.get().is_superuser


def test_a_weak_password_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert add_user(monkeypatch, password="short") == 1
    assert "5 characters so far; 12 or more" in capsys.readouterr().err
    assert not User.objects.exists()


def test_it_sets_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    add_user(monkeypatch)
    monkeypatch.setattr("sys.stdin", io.StringIO("another sentence, longer\n"))
    assert main(["user", "password", "Alice@example.org", "--password-stdin"]) == 0
    assert User.objects.get().check_password("another sentence, longer")


def test_it_sets_no_password_that_is_weak_or_nobodys(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add_user(monkeypatch)
    for email, said in (("alice@example.org", "5 characters"), ("x@example.org", "no account")):
        monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))
        assert main(["user", "password", email, "--password-stdin"]) == 1
        assert said in capsys.readouterr().err
    assert User.objects.get().check_password(PASSWORD)


def test_it_adds_a_project_and_a_key(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add_user(monkeypatch)
    capsys.readouterr()
    assert main(["project", "create", "Acme Shop", "--owner", "alice@example.org", "--json"]) == 0
    project = json.loads(capsys.readouterr().out)["project"]
    assert project == "acme-shop"
    assert Member.objects.get().role == "owner"
    assert main(["key", "create", project, "--scope", "write"]) == 0
    parts = keys.parse(capsys.readouterr().out.strip())
    row = ApiKey.objects.get(key_id=parts.key_id)
    assert keys.matches(parts.secret, row.secret_hash)
    assert (row.may_write, row.may_read) == (True, False)


def test_an_unknown_owner_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["project", "create", "X", "--owner", "nobody@example.org"]) == 1
    assert "There is no account for nobody@example.org" in capsys.readouterr().err
