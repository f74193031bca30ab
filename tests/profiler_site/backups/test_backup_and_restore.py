"""Backups of a server under load, restored to an empty installation."""

import json
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from django.db import connections
from django.utils import timezone
from pytest_django import Settings

from profiler_site.backups import create
from profiler_site.backups.create import create_backup
from profiler_site.backups.database_copies import PostgresqlCopies
from profiler_site.backups.folder import BackupError, BackupFolder, Manifest
from profiler_site.process.data_folder import lock_data_folder
from profiles.compaction import blob_sweep
from profiles.compaction.compactor import Compactor
from profiles.compaction.lease import BACKUP, is_held, lease, release_all
from profiles.models import Blob, Block, Lease, Profile
from profiles.storage.blob_store import blobs
from projects.models import Project, User
from tests.ingest.client import Client
from tests.profiler_site.backups.conftest import Installation
from tests.profiler_site.backups.read_installation import read
from tests.profiles import rows
from tests.profiles.compaction.unlimited_retention import sum_days

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
BOTH_STORES = pytest.mark.parametrize("store", ["file", "s3"], indirect=True)
PASSWORD = "a sentence works well"  # of the fixture alice


@pytest.fixture
def later() -> timedelta:
    """Return the distance to a time at which every stored hour and day is closed."""
    return max(timedelta(0), rows.NOON - timezone.now()) + timedelta(days=4)


@pytest.fixture
def quiet(
    project: Project, reader: Client, store: str, later: timedelta, settings: Settings
) -> Project:
    """Store profiles that do not change: in blocks, with a rollup, and in the head."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    alice = User.objects.get()
    alice.set_password(PASSWORD)
    alice.save()
    of = rows.deployment(project, service="quiet")
    for hour in range(5):
        for minute in range(4):
            rows.stored(of, {"main;a": 5 + hour, "main;b": minute}, minutes=60 * hour + minute)
    Compactor(project.pk, timezone.now() + later).build_level1()
    sum_days(project.pk, timezone.now() + later)
    rows.stored(of, {"main;a": 7}, minutes=300)
    assert Block.objects.exists()
    assert Profile.objects.exists()
    return project


def manifest_of(folder: Path) -> Manifest:
    manifest = BackupFolder(folder).read_manifest()
    assert manifest is not None
    return manifest


def in_thread(work: Callable[[], None], stop: threading.Event) -> threading.Thread:
    def loop() -> None:
        try:
            while not stop.is_set():
                work()
        finally:
            connections.close_all()

    thread = threading.Thread(target=loop)
    thread.start()
    return thread


@pytest.fixture
def load(quiet: Project, later: timedelta) -> Iterator[Callable[[], int]]:
    """Upload, compact and sweep without a pause; yield the number of profiles sent so far."""
    of, stop, sent = rows.deployment(quiet, service="busy"), threading.Event(), [0]
    enough = threading.Event()

    def upload() -> None:
        rows.stored(of, {"main;x": 3}, minutes=sent[0] % 1200)
        sent[0] += 1
        if sent[0] > 20:
            enough.set()

    def compact() -> None:
        Compactor(quiet.pk, timezone.now() + later).build_level1()
        sum_days(quiet.pk, timezone.now() + later)
        blob_sweep.sweep(timezone.now() + 2 * later)

    threads = [in_thread(upload, stop), in_thread(compact, stop)]
    assert enough.wait(60)
    try:
        yield lambda: sent[0]
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)


@BOTH_STORES
def test_backup_under_load_is_complete_and_gives_the_same_results(
    load: Callable[[], int], target: Installation, reader: Client, tmp_path: Path
) -> None:
    Session.objects.create(session_key="k", session_data="d", expire_date=timezone.now())
    folder, at_start = tmp_path / "backup", load()
    summary = create_backup(folder)
    at_end = load()
    assert summary.manifest.missing_blobs == []
    assert summary.copied == len(summary.manifest.blobs) > 0
    target.restore(folder)
    before, after = read(reader.key, PASSWORD), target.read(reader.key, PASSWORD)
    assert after["tree"] == before["tree"]
    assert after["tree"]["profiles"] == 21
    assert after["history"] == before["history"]
    assert after["signs_in"]
    assert after["missing"] == []
    assert set(after["copies"]) == {1}  # no profile twice
    assert 21 + at_start <= len(after["copies"]) <= 21 + at_end + 1
    assert (after["sessions"], after["leases"]) == (0, 0)


@BOTH_STORES
def test_second_backup_copies_new_blobs_only_and_deletes_old_ones(
    quiet: Project, later: timedelta, target: Installation, reader: Client, tmp_path: Path
) -> None:
    folder = tmp_path / "backup"
    first = create_backup(folder)
    rows.stored(rows.deployment(quiet, service="new"), minutes=-600)
    Compactor(quiet.pk, timezone.now() + later).build_level1()
    second = create_backup(folder)
    stored = set(first.manifest.blobs) & set(second.manifest.blobs)
    assert stored
    assert second.copied == len(set(second.manifest.blobs) - stored) > 0
    copies = {entry.key for entry in BackupFolder(folder).blobs.list()}
    assert copies == set(second.manifest.blobs)
    assert [path.name for path in folder.glob("database-*")] == [second.manifest.database_file]
    target.restore(folder)
    assert target.read(reader.key, PASSWORD)["missing"] == []


def test_interrupted_backup_leaves_the_previous_one(
    quiet: Project, target: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "backup"
    create_backup(folder)
    before = (folder / "manifest.json").read_bytes()
    rows.stored(rows.deployment(quiet, service="new"), minutes=-600)
    with monkeypatch.context() as patched:
        patched.setattr(create, "_copy_blobs", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            create_backup(folder)
    assert (folder / "manifest.json").read_bytes() == before
    target.restore(folder)


@pytest.fixture
def backup(quiet: Project, tmp_path: Path) -> Path:
    create_backup(tmp_path / "backup")
    return tmp_path / "backup"


@pytest.mark.parametrize("damage", ["changed", "cut", "missing"])
@pytest.mark.parametrize("part", ["database", "blob"])
def test_damaged_backup_is_rejected_before_any_change(
    part: str, damage: str, backup: Path, target: Installation
) -> None:
    manifest = manifest_of(backup)
    names = {"database": manifest.database_file, "blob": f"blobs/{next(iter(manifest.blobs))}"}
    path = backup / names[part]
    data = bytearray(path.read_bytes())
    if damage == "missing":
        path.unlink()
    else:
        data[len(data) // 2] ^= 1
        path.write_bytes(data if damage == "changed" else data[:-1])
    error = target.rejection(backup)
    assert f"damaged: {path.name} is missing or has other bytes" in error
    assert not (target.data_dir / "flamewatch.sqlite3").exists()
    assert not (target.data_dir / "blobs").exists()


def test_check_finds_a_damaged_backup(backup: Path, target: Installation) -> None:
    manifest = manifest_of(backup)
    path = backup / f"blobs/{next(iter(manifest.blobs))}"
    path.write_bytes(path.read_bytes()[:-1])
    assert f"damaged: {path.name} is missing" in target.rejection(backup, "--check")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": 2}, "has the format 2; this version reads format 1"),
        ({"migrations": ["profiles.9999_later"]}, "newer than that of this version"),
        ({"migrations": ["profiles.0001_initial"]}, "by a version of Flamewatch before 0.3"),
        ({"database_kind": "oracle"}, "The backup is of oracle, and DATABASE_URL names"),
        ({"blobs": 7}, "is not the manifest of a backup"),
    ],
)
def test_wrong_manifest_is_rejected(
    changes: dict[str, object], reason: str, backup: Path, target: Installation
) -> None:
    path = backup / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    assert reason in target.rejection(backup)


def test_cut_or_missing_manifest_is_rejected(backup: Path, target: Installation) -> None:
    path = backup / "manifest.json"
    path.write_text(path.read_text()[:-1])
    assert "is not the manifest of a backup" in target.rejection(backup)
    path.unlink()
    assert "has no finished backup" in target.rejection(backup)


def test_target_with_data_is_replaced_only_with_the_option(
    backup: Path, target: Installation, reader: Client
) -> None:
    target.restore(backup)
    error = target.rejection(backup)
    assert "already has accounts or projects" in error
    assert "--replace" in error
    target.restore(backup, "--replace")
    assert target.read(reader.key, PASSWORD)["tree"]["profiles"] == 21


def test_store_with_other_blobs_is_replaced_only_with_the_option(
    backup: Path, target: Installation
) -> None:
    other = target.data_dir / "blobs" / "projects" / "9" / "other"
    other.parent.mkdir(parents=True)
    other.write_bytes(b"x")
    assert "blobs that are not of this backup, such as projects/9/other" in target.rejection(backup)
    target.restore(backup, "--replace")


def test_secret_key_comes_with_the_backup(
    backup: Path, target: Installation, settings: Settings
) -> None:
    target.restore(backup)
    assert (target.data_dir / "secret_key").read_text() == settings.SECRET_KEY
    assert (target.data_dir / "secret_key").stat().st_mode & 0o077 == 0
    done = target.run("restore", str(backup), "--replace", FLAMEWATCH_SECRET_KEY="k" * 50)
    assert done.returncode == 0, done.stderr
    assert "FLAMEWATCH_SECRET_KEY is not that of the backup's server" in done.stderr


def test_running_server_keeps_a_restore_from_starting(backup: Path, target: Installation) -> None:
    with lock_data_folder(target.data_dir):
        assert "Stop the server before you restore" in target.rejection(backup)


def test_folder_with_other_files_is_rejected(quiet: Project, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.tex").write_text("x")
    with pytest.raises(BackupError, match="has other files than those of a backup"):
        create_backup(folder)


def test_folder_of_the_blobs_is_rejected(quiet: Project, settings: Settings) -> None:
    blobs_folder = Path(settings.BLOB_URL.removeprefix("file://"))
    for folder in (blobs_folder, blobs_folder / "backup", blobs_folder.parent):
        with pytest.raises(BackupError, match="has the blobs of the server itself"):
            create_backup(folder)


@BOTH_STORES
def test_missing_blob_is_reported_in_a_finished_backup(quiet: Project, tmp_path: Path) -> None:
    key = Blob.objects.filter(dead_since=None).values_list("key", flat=True)[0]
    blobs().delete(key)
    assert create_backup(tmp_path / "backup").manifest.missing_blobs == [key]


def test_one_backup_at_a_time(quiet: Project, tmp_path: Path) -> None:
    with lease(BACKUP) as is_ours:
        assert is_ours
        with pytest.raises(BackupError, match="Another backup of this server runs"):
            create_backup(tmp_path / "backup")


def test_no_object_is_deleted_during_a_backup(quiet: Project, later: timedelta) -> None:
    present = {entry.key for entry in blobs().list()}
    with lease(BACKUP) as is_ours:
        assert is_ours
        release_all()  # the start of a server ends no backup
        Project.objects.all().delete()
        blob_sweep.sweep(timezone.now() + 2 * later)
        assert {entry.key for entry in blobs().list()} == present
    blob_sweep.sweep(timezone.now() + 2 * later)
    assert list(blobs().list()) == []


def test_pause_of_a_killed_backup_expires(db: None) -> None:
    Lease.objects.create(job=BACKUP, holder="x", until=timezone.now() + timedelta(seconds=60))
    assert is_held(BACKUP)
    Lease.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert not is_held(BACKUP)


def test_database_without_tables_is_rejected(tmp_path: Path, target: Installation) -> None:
    done = target.run("backup", str(tmp_path / "backup"))
    assert done.returncode == 1
    assert "has no tables of Flamewatch" in done.stderr


def test_other_version_of_the_programs_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PostgresqlCopies, "version", "99.1")
    with pytest.raises(
        BackupError, match=r"pg_dump of PostgreSQL 99 is needed.*pg_dump of version"
    ):
        PostgresqlCopies().prepare_dump()
