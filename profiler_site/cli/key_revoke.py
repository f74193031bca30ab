"""`flamewatch keys revoke --local KEY`: revoke an API key by its prefix."""

from argparse import Namespace

from profiler_site.cli.command import CommandFailed, print_result
from projects.audit import COMMAND_LINE
from projects.credentials import keys
from projects.models import ApiKey


def run(options: Namespace) -> int:
    row = find_key(options.key)
    if row.revoked is not None:
        raise CommandFailed(f"The API key {row.prefix}… is already revoked.")
    keys.revoke(row, origin=COMMAND_LINE)
    return print_result(
        options,
        f"Revoked the API key “{row.name}” ({row.prefix}…) of {row.project.project_id}. Running"
        " servers reject it within 15 s.",
        {"project": row.project.project_id, "key": row.prefix},
    )


def find_key(text: str) -> ApiKey:
    """Return the API key with this prefix or id. Raise CommandFailed."""
    key_id = text.removeprefix(keys.KEY_PREFIX).rstrip("…")
    row = ApiKey.objects.select_related("project").filter(key_id=key_id).first()
    if row is None:
        raise CommandFailed(
            "No API key with this prefix. `flamewatch keys list --local --project PROJECT` prints"
            " the prefixes."
        )
    return row
