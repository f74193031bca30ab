"""Data folders of earlier versions give the same results with today's code, on all databases.

data/ has a folder for each version, with an archive for each database, made by make_data.py of that
version: hour blocks, some of them covered by day blocks, a late one that is not, level 0 blocks,
head rows, a quarantined row and a quarantined block, rows of deduplication, keys, quotas, users,
deployments, native frames, a saved view, a note and a saved tree; since 0.4 an access token, an
invitation, a webhook, an alert rule and a finding, too. `0.3 after 0.2` was made by version 0.2 and
opened by 0.3: its blocks have the format of 0.2.
"""

import json
import math
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.db import connection

from tests.upgrades.old_database import DATA, run_dump
from tests.upgrades.schema import read_schema

# Fields for the scripts of the page, which come with the page and change with it.
PAGE_ONLY = {"functions"}
# Tables that migrations since a release add, and those to which they add columns or indexes.
NEW_SINCE_0_4 = set[str]()
CHANGED_SINCE_0_4 = set[str]()
NEW_SINCE_0_3 = NEW_SINCE_0_4 | {
    *("profiles_exportjob", "profiles_exportpart"),
    *("profiles_deletionjob", "projects_accesstoken", "projects_invitation"),
    "projects_authorizationcode",
    "projects_devicesignin",
    *("alerts_alertrule", "alerts_alertstate", "alerts_alertincident", "alerts_alertsilence"),
    *("findings_finding", "findings_findingevent", "findings_findingmute", "findings_findingvote"),
    *("findings_hourlysums", "findings_projectanalysis", "findings_servicedetection"),
    *("mfa_authenticator", "projects_mailnotice", "projects_plan", "projects_prices"),
    *("socialaccount_socialaccount", "socialaccount_socialapp", "socialaccount_socialtoken"),
    *("projects_quotarequest", "projects_webhook", "projects_webhookdelivery"),
    *("scheduler_sampleneed", "usersessions_usersession"),
}
CHANGED_SINCE_0_3 = CHANGED_SINCE_0_4 | {
    *("projects_apikey", "projects_auditentry", "projects_member", "projects_project"),
    "projects_user",
}
Results = tuple[dict[str, Any], dict[str, Any]]
pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="module", params=["0.3", "0.3 after 0.2", "0.4"])
def results(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, django_db_setup: None
) -> Iterator[Results]:
    """Yield what the old version recorded, and what today's code makes of its data."""
    folder = tmp_path_factory.mktemp("upgrade")
    with tarfile.open(DATA / request.param / f"{connection.vendor}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    recorded = json.loads((folder / "answers.json").read_text())
    if request.param == "0.3 after 0.2":  # names of profiles were others, and are not recognised
        recorded |= {"uploads": [], "issued_name": ""}
        (folder / "answers.json").write_text(json.dumps(recorded))
    dump = folder / "data" / "dump.sql"
    with run_dump(folder / "data", dump.read_text() if dump.exists() else "") as environment:
        command = [sys.executable, "-m", "tests.upgrades.today", str(folder / "answers.json")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        yield recorded, json.loads(done.stdout)


def assert_contains(response: object, recorded: object, at: str) -> None:
    """Compare all recorded fields but texts of errors, floats within 1e-9.

    Today's response may have more fields.
    """
    if isinstance(recorded, Mapping):
        assert isinstance(response, Mapping), at
        for key, value in recorded.items():
            assert key in response, f"{at}.{key}"
            if key != "why":
                assert_contains(response[key], value, f"{at}.{key}")
    elif isinstance(recorded, list):
        assert isinstance(response, list), at
        assert len(response) == len(recorded), at
        for number, value in enumerate(recorded):
            assert_contains(response[number], value, f"{at}[{number}]")
    elif isinstance(recorded, float):
        assert isinstance(response, (int, float)), at
        assert math.isclose(response, recorded, rel_tol=1e-9, abs_tol=1e-9), at
    else:
        assert response == recorded, at


def find_expected_changes(recorded: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """Return the new and the changed tables since the version that recorded its responses."""
    if "token" in recorded:  # 0.4 has access tokens
        return NEW_SINCE_0_4, CHANGED_SINCE_0_4
    return NEW_SINCE_0_3, CHANGED_SINCE_0_3


def test_old_tables_stay_unchanged(results: Results) -> None:
    recorded, today = results
    old, old_applied = today["found"]
    schema, applied = today["migrated"]
    new, changed = find_expected_changes(recorded)
    unchanged = set(old) - changed
    assert {table: schema.get(table) for table in unchanged} == {
        table: old[table] for table in unchanged
    }
    assert set(schema) - set(old) == new
    assert [migration for migration in old_applied if migration not in applied] == []


def test_new_database_has_the_same_schema(results: Results) -> None:
    _, today = results
    schema, _ = today["migrated"]
    assert read_schema() == schema


def test_no_row_is_lost(results: Results) -> None:
    recorded, today = results
    assert today["rows"].items() >= recorded["rows"].items()
    assert all(count > 0 for count in recorded["rows"].values())


def test_queries_give_the_recorded_results(results: Results) -> None:
    recorded, today = results
    for path, response in recorded["answers"].items():
        assert_contains(today["answers"][path], response, path)


def test_pages_give_the_recorded_results(results: Results) -> None:
    recorded, today = results
    assert today["pages"].keys() == recorded.get("pages", {}).keys()
    for path, response in recorded.get("pages", {}).items():
        tree = {key: value for key, value in response.items() if key not in PAGE_ONLY}
        assert_contains(today["pages"][path], tree, path)


def test_queries_give_the_recorded_results_after_compaction(results: Results) -> None:
    recorded, today = results
    assert today["compacted"]["profiles"] == recorded["rows"]["quarantined"]
    for path, response in recorded["answers"].items():
        assert_contains(today["answers_after_compaction"][path], response, path)


def test_repeated_uploads_are_recognised(results: Results) -> None:
    """In hour blocks, in the head, and without a time of their own by rows of their names."""
    recorded, today = results
    for key in ("uploads", "uploads_after_compaction"):
        for response, upload in zip(today[key], recorded["uploads"], strict=True):
            assert response["name"] == upload["response"]["name"]
    assert today["rows_after_uploads"] == today["rows"]
    assert today["rows_at_the_end"] == today["compacted"]


def test_credentials_are_valid(results: Results) -> None:
    """API keys (the queries above used one), tokens, passwords, and signed names of profiles."""
    recorded, today = results
    assert today["revoked"] == 401
    assert today["signed_in"] == [302, 200]
    assert today["alert_rules"] == (["stopped_reporting"] if "token" in recorded else None)
    assert today["issued"] == ("CPU" if recorded["issued_name"] else "")
