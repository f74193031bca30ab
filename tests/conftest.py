"""Shared fixtures: alice owns a project, bob is a member, charlie is an outsider."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.cache import caches
from django.core.management import call_command
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.postgresql.creation import DatabaseCreation
from django.test import TransactionTestCase, override_settings
from django.utils import timezone
from pytest_django import Settings

from alerts.models import AlertRule
from common import cache, minute_counter, write_behind
from common.repeated_log import repeated_log
from profiler_site.metrics.installation import installation_metrics
from profiles.queries.cache import result_cache
from projects.credentials import keys
from projects.models import Member, Project, Role, User
from projects.project_ids import create_project
from tests import services
from tests.ingest.client import Client

# Servers in the process of a test query there: worker processes would read another database.
django_settings.QUERY_WORKERS = 0
# The URLs of passkeys exist only with the setting.
django_settings.PASSKEYS = django_settings.MFA_PASSKEY_LOGIN_ENABLED = True
django_settings.MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
# A fast password hasher, because many tests create several users.
django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Tables of the rows that Django creates after migrating.
MIGRATED = {"django_content_type", "auth_permission"}


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    """Clear all in-process caches, because each test has its own rows."""
    cache.clear_all()
    minute_counter.clear_all()
    repeated_log.clear()
    installation_metrics.forget()
    write_behind.clear_all()
    for django_cache in caches.all():
        django_cache.clear()
    result_cache().clear()


@pytest.fixture
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock of `timezone.now`, for limits of a minute: the next one would start at 0."""
    now = timezone.now().replace(second=30)
    monkeypatch.setattr(timezone, "now", lambda: now)


@pytest.fixture(scope="session", autouse=True)
def tables_emptied_by_delete() -> Iterator[None]:
    """Empty the tables after a test by DELETE, but those that only migrations write to.

    Django's `flush` uses TRUNCATE on PostgreSQL, which takes ten times as long, and fills the
    tables of MIGRATED again after every test, on both databases.
    """

    def empty(_case: TransactionTestCase) -> None:
        for connection in connections.all():
            connection.ops.execute_sql_flush(_deletes(connection))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty)
        yield


def _deletes(connection: BaseDatabaseWrapper) -> list[str]:
    existing = connection.introspection.django_table_names(only_existing=True, include_views=False)
    names = [connection.ops.quote_name(name) for name in existing if name not in MIGRATED]
    deletes = [f"DELETE FROM {name}" for name in names]
    if connection.vendor != "postgresql":
        return deletes
    # Without checks of foreign keys, because the tables come in no particular order.
    role = "SET LOCAL session_replication_role ="
    return ["; ".join([f"{role} replica", *deletes, f"{role} DEFAULT"])]  # one round trip


@pytest.fixture(scope="session", autouse=True)
def database_dropped_by_force() -> Iterator[None]:
    """Drop PostgreSQL's test database although threads of the pools keep connections to it."""

    def destroy(creation: Any, name: str, verbosity: int) -> None:
        with creation._nodb_cursor() as cursor:
            quoted = creation.connection.ops.quote_name(name)
            cursor.execute(f"DROP DATABASE {quoted} WITH (FORCE)")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseCreation, "_destroy_test_db", destroy)
        yield


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """Start one Redis per worker."""
    with tempfile.TemporaryDirectory() as folder, services.redis(Path(folder)) as url:
        yield url


@pytest.fixture(scope="session")
def s3_server() -> Iterator[services.S3]:
    """Start one S3 server per worker."""
    with tempfile.TemporaryDirectory() as folder, services.s3(Path(folder)) as server:
        yield server


@pytest.fixture
def s3_url(s3_server: services.S3, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the URL of a bucket, with its credentials in the environment."""
    for name, value in s3_server.environment().items():
        monkeypatch.setenv(name, value)
    return s3_server.url


@pytest.fixture(scope="session", autouse=True)
def static_root() -> None:
    """Create the folder of static files, as the server does when it starts."""
    Path(django_settings.STATIC_ROOT or "").mkdir(parents=True, exist_ok=True)


@pytest.fixture(scope="session")
def collected_static_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the static files as the server collects them, scripts in bundles."""
    folder = tmp_path_factory.mktemp("static")
    storage = {"BACKEND": "profiler_site.static_files.storage.BundlingStorage"}
    storages = django_settings.STORAGES | {"staticfiles": storage}
    with override_settings(STATIC_ROOT=folder, STORAGES=storages):
        call_command("collectstatic", interactive=False, verbosity=0)
    return folder


@pytest.fixture(autouse=True)
def static_files(settings: Settings) -> None:
    """Link static files by their plain names, so that collectstatic is not needed."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}


@pytest.fixture(autouse=True)
def blobs_of_its_own(settings: Settings, tmp_path: Path) -> None:
    """Use a blob store per test, because the rows that refer to its blobs are rolled back."""
    settings.BLOB_URL = f"file://{tmp_path}/blobs"


@pytest.fixture
def alice(db: None) -> User:
    return User.objects.create_user("alice@example.org", "a sentence works well")


@pytest.fixture
def bob(project: Project) -> User:
    user = User.objects.create_user("bob@example.org", "a sentence works well")
    Member.objects.create(project=project, user=user, role=Role.MEMBER)
    return user


@pytest.fixture
def charlie(db: None) -> User:
    return User.objects.create_user("charlie@example.org", "a sentence works well")


@pytest.fixture
def project(alice: User) -> Project:
    return _create_without_rules("Acme Shop", alice)


@pytest.fixture
def key(project: Project) -> str:
    return keys.create(project, "agents")[1]


@pytest.fixture
def agent(project: Project, key: str) -> Client:
    """Return a client with a write key."""
    return Client(project.project_id, key)


@pytest.fixture
def reader(project: Project) -> Client:
    """Return a client with a read-only key."""
    return Client(project.project_id, keys.create(project, "eyes", write=False, read=True)[1])


@pytest.fixture
def other_project(charlie: User) -> Project:
    return _create_without_rules("Other Shop", charlie)


def _create_without_rules(name: str, owner: User) -> Project:
    """Create a project without the alert rules that each new one has."""
    project = create_project(name, owner)
    AlertRule.objects.filter(project=project).delete()
    return project


@pytest.fixture
def stranger(other_project: Project) -> Client:
    """Return a client with a key of another project that has every scope there."""
    return Client(other_project.project_id, keys.create(other_project, "all", read=True)[1])
