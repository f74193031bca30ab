"""The `flamewatch` command."""

import io
import json
import os
import re
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from flamewatch_client.main import main as client_main
from profiler_site.cli import command
from profiler_site.cli.main import main
from projects.credentials import keys
from projects.models import ApiKey, AuditEntry, Member, Project, User
from tests.server import COMMAND

pytestmark = pytest.mark.django_db
PASSWORD = "a sentence works well"


def add_user(monkeypatch: pytest.MonkeyPatch, *arguments: str, password: str = PASSWORD) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(password + "\n"))
    return main(["user", "create", "alice@example.org", "--password-stdin", *arguments])


def test_user_create_adds_a_user_who_can_sign_in(monkeypatch: pytest.MonkeyPatch) -> None:
    assert add_user(monkeypatch) == 0
    user = User.objects.get(email="alice@example.org")
    assert user.check_password(PASSWORD)
    assert not user.is_superuser


def test_admin_makes_a_superuser(monkeypatch: pytest.MonkeyPatch) -> None:
    assert add_user(monkeypatch, "--admin") == 0
    assert User.objects.get().is_superuser


def test_a_weak_password_is_rejected(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert add_user(monkeypatch, password="short") == 1
    assert "has 5 characters; at least 12 are required" in capsys.readouterr().err
    assert not User.objects.exists()


def test_user_password_sets_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    add_user(monkeypatch)
    monkeypatch.setattr("sys.stdin", io.StringIO("another sentence, longer\n"))
    assert main(["user", "password", "Alice@example.org", "--password-stdin"]) == 0
    assert User.objects.get().check_password("another sentence, longer")


def test_weak_password_or_unknown_account_is_rejected(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add_user(monkeypatch)
    for email, said in (("alice@example.org", "5 characters"), ("x@example.org", "No account")):
        monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))
        assert main(["user", "password", email, "--password-stdin"]) == 1
        assert said in capsys.readouterr().err
    assert User.objects.get().check_password(PASSWORD)


def test_project_and_key_are_created(
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


@pytest.mark.parametrize(
    ("scopes", "write", "read"),
    [(["write"], True, False), (["read"], False, True), (["write", "read"], True, True)],
)
def test_a_key_has_every_scope_that_was_given(
    scopes: list[str], write: bool, read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_user(monkeypatch)
    assert main(["project", "create", "Acme Shop", "--owner", "alice@example.org"]) == 0
    given = [word for scope in scopes for word in ("--scope", scope)]
    assert main(["key", "create", "acme-shop", *given]) == 0
    row = ApiKey.objects.get()
    assert (row.may_write, row.may_read) == (write, read)


def test_a_key_may_have_a_default_service(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add_user(monkeypatch)
    assert main(["project", "create", "Acme Shop", "--owner", "alice@example.org"]) == 0
    create = ["key", "create", "acme-shop", "--scope", "write", "--default-service"]
    assert main([*create, "batch-jobs"]) == 0
    assert ApiKey.objects.get().default_service == "batch-jobs"
    assert main([*create, "Batch Jobs"]) == 1
    assert "--default-service Batch Jobs: Enter a service name" in capsys.readouterr().err


def test_an_unknown_scope_is_rejected_by_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["key", "create", "acme-shop", "--scope", "write", "--scope", "admin"])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert "'admin'" in said
    assert "write" in said
    assert not ApiKey.objects.exists()


def test_unknown_owner_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["project", "create", "X", "--owner", "nobody@example.org"]) == 1
    assert "No account for nobody@example.org" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "  ", "x" * 101])
def test_a_project_has_a_name_as_in_the_form(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add_user(monkeypatch)
    assert main(["project", "create", name, "--owner", "alice@example.org"]) == 1
    assert capsys.readouterr().err.startswith("flamewatch: name: ")
    assert not Member.objects.exists()


@pytest.mark.parametrize("port", ["0", "65536", "-1", "http", "8000.5"])
def test_invalid_port_is_a_usage_error(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["up", f"--port={port}"])
    assert end.value.code == 2
    assert f"invalid port '{port}'; use 1 to 65535" in capsys.readouterr().err


def test_the_help_has_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    said = capsys.readouterr().out
    for name in command.ARGUMENTS:
        first = name.split()[0]
        assert f"{first} " in said
        assert command.HELP[first] in " ".join(said.split())


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("FLAMEWATCH_DATA_DIR", "/proc/none", "FLAMEWATCH_DATA_DIR is '/proc/none': "),
        ("DATABASE_URL", "hush", "DATABASE_URL has to begin with sqlite://"),
        ("DATABASE_URL", "postgres://u:hu/sh@db/x", "DATABASE_URL cannot be read as "),
        (
            "DATABASE_URL",
            "postgres://u:hush@127.0.0.1:1/x",
            "Cannot use the database (DATABASE_URL)",
        ),
        ("REDIS_URL", "redis://:hu/sh@cache", "REDIS_URL cannot be read as "),
        ("FLAMEWATCH_POLL_TIMEOUT_SECONDS", "long", "FLAMEWATCH_POLL_TIMEOUT_SECONDS is 'long'; "),
    ],
)
def test_a_bad_setting_is_reported_in_a_sentence(
    variable: str, value: str, said: str, tmp_path: Path
) -> None:
    environment = os.environ | {"FLAMEWATCH_DATA_DIR": str(tmp_path), variable: value}
    done = subprocess.run(
        [*COMMAND, "migrate"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert any(line.startswith(f"flamewatch: {said}") for line in done.stderr.splitlines())
    assert "Traceback" not in done.stderr
    assert re.search(r"\bhu\b|hush", done.stderr) is None


@pytest.mark.slow
def test_a_database_without_tables_is_reported_in_a_sentence(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    done = subprocess.run(
        [*COMMAND, "key", "create", "shop", "--scope", "write", "--data-dir", str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "flamewatch: The database has no tables of Flamewatch. Check --data-dir" in done.stderr
    assert "Traceback" not in done.stderr


def test_key_has_services_and_expiry(project: Project) -> None:
    create = ["key", "create", project.project_id, "--scope", "write"]
    assert main([*create, "--service", "shop", "--service", "till-*", "--expires-in", "30"]) == 0
    row = ApiKey.objects.get()
    assert row.services == ["shop", "till-*"]
    assert row.expires is not None
    assert abs(row.expires - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--service", "Shop"], "--service: “Shop” is no service name"),
        (["--service", "shop", "--default-service", "till"], "not one of the allowed services"),
    ],
)
def test_invalid_services_are_rejected(
    options: list[str], said: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["key", "create", project.project_id, "--scope", "write", *options]) == 1
    assert said in capsys.readouterr().err
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize("days", ["0", "-1", "3651", "x"])
def test_invalid_lifetime_is_a_usage_error(days: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["key", "create", "acme-shop", "--scope", "write", f"--expires-in={days}"])
    assert end.value.code == 2
    assert f"invalid days '{days}'; use 1 to 3650" in capsys.readouterr().err


def test_keys_are_listed_without_their_secrets(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    row, text = keys.create(project, "ci", read=True, services=["shop"])
    expired, _ = keys.create(project, "old", expires=timezone.now())
    assert main(["key", "list", project.project_id]) == 0
    table = capsys.readouterr().out
    assert [line.split()[0] for line in table.splitlines()] == ["KEY", expired.prefix, row.prefix]
    assert keys.parse(text).secret not in table
    assert main(["key", "list", project.project_id, "--json"]) == 0
    documents = json.loads(capsys.readouterr().out)
    assert [(each["name"], each["state"]) for each in documents] == [
        ("old", "expired"),
        ("ci", "active"),
    ]
    assert documents[1]["scopes"] == ["write", "read"]
    assert documents[1]["services"] == ["shop"]


def test_keys_of_an_unknown_project_are_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["key", "list", "nowhere"]) == 1
    assert "No project with the id nowhere." in capsys.readouterr().err


def test_key_is_revoked_once_by_its_prefix(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    row, _ = keys.create(project, "ci")
    assert main(["key", "revoke", f"{row.prefix}…"]) == 0
    assert f"Revoked the API key “ci” ({row.prefix}…) of acme-shop." in capsys.readouterr().out
    row.refresh_from_db()
    assert row.revoked is not None
    entry = AuditEntry.objects.get(action="key.revoke")
    assert (entry.actor_kind, entry.target) == ("operator", "ci")
    assert main(["key", "revoke", row.prefix]) == 1
    assert "already revoked" in capsys.readouterr().err
    assert main(["key", "revoke", "fw_nobodyhere"]) == 1
    assert "No API key with this prefix." in capsys.readouterr().err


def test_key_is_generated_without_a_database_or_a_data_folder(tmp_path: Path) -> None:
    environment = os.environ | {"FLAMEWATCH_DATA_DIR": str(tmp_path / "none"), "DATABASE_URL": "x"}
    done = subprocess.run(
        [*COMMAND, "key", "generate"], env=environment, capture_output=True, text=True, check=True
    )
    assert len(keys.parse(done.stdout.strip()).secret) == 32
    assert list(tmp_path.iterdir()) == []


def test_keys_are_one_family_over_the_network_and_on_the_servers_machine(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    local = ["--local", "--project", project.project_id]
    assert (
        client_main(["keys", "create", "ci", "--scope", "read", "--service", "shop", *local]) == 0
    )
    text = capsys.readouterr().out.strip()
    row = ApiKey.objects.get(name="ci")
    assert keys.matches(keys.parse(text).secret, row.secret_hash)
    assert (row.may_read, row.may_write, row.services) == (True, False, ["shop"])
    assert client_main(["keys", "list", *local]) == 0
    assert row.prefix in capsys.readouterr().out
    assert client_main(["keys", "rotate", row.prefix, "--local"]) == 0
    successor = ApiKey.objects.get(replaced_by=None)
    assert keys.parse(capsys.readouterr().out.strip()).key_id == successor.key_id
    assert client_main(["keys", "rotate", row.prefix, "--local"]) == 1  # once only
    assert client_main(["keys", "revoke", successor.prefix, "--local"]) == 0
    successor.refresh_from_db()
    assert successor.revoked is not None
    capsys.readouterr()
    assert client_main(["keys", "list", "--local"]) == 2
    assert "--local needs --project" in capsys.readouterr().err


def test_keys_without_local_use_the_api(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("FLAMEWATCH_URL", "FLAMEWATCH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    assert client_main(["keys", "list"]) == 1
    assert "Run `flamewatch login`" in capsys.readouterr().err
