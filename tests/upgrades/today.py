"""Use a data folder of an old version with today's code, in a process of its own.

Reads what the old version recorded (answers.json of make_data.py), prints today's counterparts.
"""

import gzip
import json
import os
import sys
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
django.setup()


from django.conf import settings  # noqa: E402
from django.test import Client as Browser  # noqa: E402
from django.test.utils import override_settings  # noqa: E402

from ingest.cloud_profiler import names  # noqa: E402
from profiler_site.celery import app  # noqa: E402
from profiler_site.process.migration import migrate  # noqa: E402
from projects.models import Project  # noqa: E402
from tests.ingest.client import Client  # noqa: E402
from tests.upgrades.rows import count_rows  # noqa: E402
from tests.upgrades.schema import read_applied, read_schema  # noqa: E402


def main(recorded: dict[str, Any]) -> dict[str, Any]:
    found = [read_schema(), read_applied()]
    migrate()
    before = count_rows()
    project = Project.objects.get(project_id=recorded["project"])
    entered, page, pages = _open_pages(recorded)
    return {
        "found": found,
        "migrated": [read_schema(), read_applied()],
        "rows": before,
        "answers": _responses(recorded),
        "revoked": _status_with_revoked_key(recorded),
        "alert_rules": _list_alert_rules(recorded) if "token" in recorded else None,
        "issued": _check_name(recorded) if recorded["issued_name"] else "",
        "signed_in": [entered, page],
        "pages": pages,
        "uploads": [_upload(recorded, each["message"]) for each in recorded["uploads"]],
        "rows_after_uploads": count_rows(),
        "compacted": _compact(project.pk),
        "answers_after_compaction": _responses(recorded),
        "uploads_after_compaction": [
            _upload(recorded, each["message"]) for each in recorded["uploads"]
        ],
        "rows_at_the_end": count_rows(),
    }


def _responses(recorded: dict[str, Any]) -> dict[str, Any]:
    reader = Client(recorded["project"], recorded["keys"]["read"])
    return {path: reader.request("GET", path).json() for path in recorded["answers"]}


def _status_with_revoked_key(recorded: dict[str, Any]) -> int:
    client = Client(recorded["project"], recorded["keys"]["revoked"])
    return client.request("GET", next(iter(recorded["answers"]))).status_code


def _list_alert_rules(recorded: dict[str, Any]) -> list[str]:
    """Return the kinds of the project's alert rules, with the personal access token."""
    client = Client(recorded["project"], recorded["token"])
    path = f"/api/v1/projects/{recorded['project']}/alert-rules"
    return [each["kind"] for each in client.request("GET", path).json()["rows"]]


def _upload(recorded: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    client = Client(recorded["project"], recorded["keys"]["write"])
    response: dict[str, Any] = client.request(
        "POST", f"{client.profiles}:createOffline", json=message
    ).json()
    return response


def _check_name(recorded: dict[str, Any]) -> str:
    """Verify the signature of a name that the old version issued, and return its type."""
    name_id = recorded["issued_name"].rpartition("/")[2]
    return str(names.check(name_id, recorded["project"], recorded["issued_at"]).type)


def _open_pages(recorded: dict[str, Any]) -> tuple[int, int, dict[str, Any]]:
    """Sign in; return both statuses and the JSON of the recorded pages."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    form = {"login": "bob@example.org", "password": recorded["password"]}
    with override_settings(STORAGES=settings.STORAGES | {"staticfiles": plain}):
        browser = Browser(headers={"host": "127.0.0.1"})
        entered = browser.post("/account/login/", form)
        page = browser.get(f"/p/{recorded['project']}/services")
        pages = {path: _read_json(browser, path) for path in recorded.get("pages", {})}
    return entered.status_code, page.status_code, pages


def _read_json(browser: Browser, path: str) -> Any:
    response = browser.get(path)
    assert response.status_code == 200, (path, response.content)
    return json.loads(gzip.decompress(response.content))


def _compact(project: int) -> dict[str, int]:
    """Run the compaction task by its name, which is stored in queues."""
    app.loader.import_default_modules()
    app.tasks["profiles.tasks.roll_up_project"](project)
    return count_rows()


if __name__ == "__main__":
    print(json.dumps(main(json.loads(Path(sys.argv[1]).read_text()))))
