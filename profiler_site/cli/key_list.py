"""`flamewatch key list PROJECT`: list the API keys of a project, without their secrets."""

import json
from argparse import Namespace
from datetime import UTC, datetime

from django.utils import timezone

from flamewatch_client.terminal import print_table
from profiler_site.cli.command import CommandFailed
from projects.credentials import keys
from projects.models import ApiKey, Project

_HEADINGS = ("KEY", "NAME", "SCOPE", "SERVICES", "STATE", "EXPIRES", "LAST USED", "FROM")


def run(options: Namespace) -> int:
    project = Project.objects.filter(project_id=options.project).first()
    if project is None:
        raise CommandFailed(f"No project with the id {options.project}.")
    rows, now = keys.list_keys(project), timezone.now()
    if options.json:
        print(json.dumps([_document(row, now) for row in rows]))
    else:
        print_table(_HEADINGS, [_columns(row, now) for row in rows])
    return 0


def _document(row: ApiKey, now: datetime) -> dict[str, object]:
    return {
        "key": row.prefix,
        "name": row.name,
        "scopes": _scopes(row),
        "services": row.services,
        "default_service": row.default_service,
        "state": _state(row, now),
        "expires": _iso(row.expires),
        "last_used": _iso(row.last_used),
        "last_used_from": row.last_used_from,
        "revoked": _iso(row.revoked),
    }


def _columns(row: ApiKey, now: datetime) -> tuple[str, ...]:
    return (
        row.prefix,
        row.name,
        ",".join(_scopes(row)),
        ",".join(row.services) or "all",
        _state(row, now),
        _minute(row.expires),
        _minute(row.last_used),
        row.last_used_from or "-",
    )


def _scopes(row: ApiKey) -> list[str]:
    scopes = {"write": row.may_write, "read": row.may_read}
    return [scope for scope, is_given in scopes.items() if is_given]


def _state(row: ApiKey, now: datetime) -> str:
    if row.revoked:
        return "revoked"
    if row.has_expired(now):
        return "expired"
    return "rotated" if row.replaced_by_id else "active"


def _iso(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _minute(time: datetime | None) -> str:
    return "never" if time is None else time.astimezone(UTC).strftime("%Y-%m-%d %H:%MZ")
