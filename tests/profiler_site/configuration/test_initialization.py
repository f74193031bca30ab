"""Headless initialization: account, project, key and quotas from the environment."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from pytest_django import Settings

from profiler_site.configuration.checks import check_initialization, check_names
from profiler_site.configuration.env import BadSetting
from profiler_site.configuration.initialization import initialize, read_initialization
from projects.credentials import keys
from projects.models import ApiKey, AuditEntry, Member, Project, Quota, Role, User
from tests.profiler_site.process.test_migration import environment

__all__ = ["environment"]  # a fixture

KEY = keys.generate()
PASSWORD = "a sentence works well"
VARIABLES = {
    "FLAMEWATCH_INIT_USER_EMAIL": "Ops@Acme.example",
    "FLAMEWATCH_INIT_USER_PASSWORD": PASSWORD,
    "FLAMEWATCH_INIT_PROJECT_ID": "acme-shop",
    "FLAMEWATCH_INIT_PROJECT_NAME": "Acme Shop",
    "FLAMEWATCH_INIT_API_KEY": KEY,
    "FLAMEWATCH_INIT_QUOTA_PROFILES_PER_DAY": "5000",
    "FLAMEWATCH_INIT_QUOTA_RETENTION_DAYS": "7",
}


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    return VARIABLES


def error() -> str:
    """Return the error of the present environment, which a check reports as well."""
    with pytest.raises(BadSetting) as raised:
        read_initialization()
    assert [each.msg for each in check_initialization(None)] == [str(raised.value)]
    return str(raised.value)


@pytest.mark.django_db
def test_without_variables_nothing_is_created() -> None:
    initialize()
    assert not User.objects.exists()


@pytest.mark.django_db
def test_account_project_key_and_quotas_are_created(variables: Mapping[str, str]) -> None:
    initialize()
    user = User.objects.get(email="ops@acme.example")
    assert user.check_password(PASSWORD)
    assert not user.is_superuser
    member = Member.objects.get(user=user)
    assert (member.role, member.project.project_id) == (Role.OWNER, "acme-shop")
    assert member.project.name == "Acme Shop"
    row = member.project.api_keys.get()
    assert keys.matches(keys.parse(KEY).secret, row.secret_hash)
    assert (row.may_write, row.may_read, row.expires) == (True, False, None)
    quota = Quota.objects.get(project=member.project)
    assert (quota.profiles_per_day, quota.retention_days) == (5000, 7)
    assert quota.stored_bytes is None


@pytest.mark.django_db
def test_audit_entries_are_of_the_system_and_have_no_secrets(
    variables: Mapping[str, str],
) -> None:
    initialize()
    entries = AuditEntry.objects.order_by("pk")
    assert [entry.action for entry in entries] == [
        *("user.create", "project.create", "quota.change", "key.create")
    ]
    assert {(entry.actor_kind, entry.actor_id) for entry in entries} == {("system", None)}
    details = str([entry.detail for entry in entries])
    assert PASSWORD not in details
    assert keys.parse(KEY).secret not in details


@pytest.mark.django_db
def test_second_start_changes_nothing(
    variables: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    initialize()
    entries = AuditEntry.objects.count()
    keys.revoke(ApiKey.objects.get())
    Project.objects.update(name="Renamed")
    Quota.objects.update(profiles_per_day=1)
    monkeypatch.setenv("FLAMEWATCH_INIT_USER_PASSWORD", "another sentence, longer")
    monkeypatch.setenv("FLAMEWATCH_INIT_QUOTA_PROFILES_PER_DAY", "9")
    initialize()
    assert User.objects.get().check_password(PASSWORD)
    assert Project.objects.get().name == "Renamed"
    assert Quota.objects.get(project__project_id="acme-shop").profiles_per_day == 1
    assert ApiKey.objects.get().revoked is not None
    assert AuditEntry.objects.count() == entries + 1  # the revocation


@pytest.mark.django_db
def test_another_key_is_added_to_a_project_that_exists(
    project: Project, variables: Mapping[str, str]
) -> None:
    initialize()
    assert project.api_keys.get().key_id == keys.parse(KEY).key_id
    assert not Quota.objects.filter(project=project).exists()
    assert not Member.objects.filter(user__email="ops@acme.example").exists()


@pytest.mark.django_db
def test_key_of_another_project_stops_the_start_and_creates_nothing(
    other_project: Project, variables: Mapping[str, str]
) -> None:
    keys.create(other_project, "theirs", text=KEY)
    with pytest.raises(BadSetting, match="FLAMEWATCH_INIT_API_KEY has the prefix of another key"):
        initialize()
    assert not User.objects.filter(email="ops@acme.example").exists()
    assert not Project.objects.filter(project_id="acme-shop").exists()


@pytest.mark.django_db
def test_limit_stops_the_start(variables: Mapping[str, str], settings: Settings) -> None:
    settings.MAX_PROJECTS_PER_ACCOUNT = 0
    with pytest.raises(BadSetting, match="FLAMEWATCH_MAX_PROJECTS_PER_ACCOUNT"):
        initialize()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("USER_EMAIL", "nobody", "which is no e-mail address"),
        ("USER_PASSWORD", "short", "at least 12"),
        ("PROJECT_ID", "Acme", "6 to 30 lower-case letters"),
        ("PROJECT_NAME", "x" * 101, "100 characters"),
        ("API_KEY", "fw_secret", "is no API key of Flamewatch"),
        ("QUOTA_PROFILES_PER_DAY", "many", "it must be a whole number"),
        ("QUOTA_PROFILES_PER_DAY", "-1", "it must be a whole number"),
        ("QUOTA_PROFILES_PER_DAY", "99999999999999999999", "is 99999999999999999999"),
        ("QUOTA_RETENTION_DAYS", "0", "greater than or equal to 1"),
    ],
)
@pytest.mark.django_db
def test_invalid_value_is_reported_by_its_name(
    name: str,
    value: str,
    said: str,
    variables: Mapping[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(f"FLAMEWATCH_INIT_{name}", value)
    text = error()
    assert text.startswith(f"FLAMEWATCH_INIT_{name}")
    assert said in text


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("FLAMEWATCH_INIT_USER_EMAIL", "FLAMEWATCH_INIT_USER_PASSWORD"),
        ("FLAMEWATCH_INIT_USER_PASSWORD", "FLAMEWATCH_INIT_USER_EMAIL"),
        ("FLAMEWATCH_INIT_PROJECT_ID", "FLAMEWATCH_INIT_USER_EMAIL"),
        ("FLAMEWATCH_INIT_API_KEY", "FLAMEWATCH_INIT_PROJECT_ID"),
        ("FLAMEWATCH_INIT_QUOTA_STORED_BYTES", "FLAMEWATCH_INIT_PROJECT_ID"),
    ],
)
def test_variable_without_the_one_that_it_needs_is_reported(
    name: str, needed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, VARIABLES.get(name, "1"))
    assert error().startswith(f"{name} needs {needed}")


@pytest.mark.django_db
def test_secrets_are_read_from_files(
    variables: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in (("USER_PASSWORD", PASSWORD), ("API_KEY", KEY)):
        path = tmp_path / name
        path.write_text(f"{value}\n")
        monkeypatch.delenv(f"FLAMEWATCH_INIT_{name}")
        monkeypatch.setenv(f"FLAMEWATCH_INIT_{name}_FILE", str(path))
    initialize()
    assert User.objects.get().check_password(PASSWORD)
    assert ApiKey.objects.get().key_id == keys.parse(KEY).key_id


@pytest.mark.django_db
def test_secret_file_that_cannot_be_read_is_reported(
    variables: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FLAMEWATCH_INIT_API_KEY_FILE", str(tmp_path / "none"))
    assert "FLAMEWATCH_INIT_API_KEY_FILE are both set" in error()
    monkeypatch.delenv("FLAMEWATCH_INIT_API_KEY")
    assert error().startswith("FLAMEWATCH_INIT_API_KEY_FILE is ")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    monkeypatch.setenv("FLAMEWATCH_INIT_API_KEY_FILE", str(binary))
    assert "no text in UTF-8" in error()


def test_secrets_are_not_in_the_text_of_the_values(variables: Mapping[str, str]) -> None:
    text = repr(read_initialization())
    assert PASSWORD not in text
    assert KEY not in text


def test_names_are_known(variables: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_names(None) == []
    monkeypatch.setenv("FLAMEWATCH_INIT_USER_MAIL", "x")
    (problem,) = check_names(None)
    assert "Did you mean FLAMEWATCH_INIT_USER_EMAIL?" in problem.msg


_START = """
import django
django.setup()
from profiler_site.configuration.initialization import initialize
from profiler_site.process.migration import migrate
from projects.models import ApiKey, AuditEntry, Project, Quota, User
migrate()
initialize()
counts = [model.objects.count() for model in (User, Project, ApiKey, AuditEntry)]
print([*counts, Quota.objects.exclude(project=None).count()])
"""


@pytest.mark.slow
@pytest.mark.django_db
def test_processes_that_start_together_create_everything_once(
    environment: dict[str, str],
) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _START],
            env=environment | VARIABLES | {"DJANGO_SETTINGS_MODULE": "profiler_site.settings"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for process in processes:
        out, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        assert out.strip() == "[1, 1, 1, 4, 1]"
