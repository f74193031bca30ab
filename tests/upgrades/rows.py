"""Numbers of rows that an upgrade must keep."""

from django.db import connection

# As in the database, whatever the models are called today.
_TABLES = {
    "profiles": "SELECT count(*) FROM profiles_profile",
    "quarantined": "SELECT count(*) FROM profiles_profile WHERE quarantined",
    "blocks": "SELECT count(*) FROM profiles_block",
    "quarantined_blocks": "SELECT count(*) FROM profiles_block WHERE quarantined",
    "deduplication": "SELECT count(*) FROM profiles_deduplicationkey",
    "snapshots": "SELECT count(*) FROM profiles_resultsnapshot",
    "views": "SELECT count(*) FROM projects_savedview",
    "notes": "SELECT count(*) FROM projects_annotation",
    "invitations": "SELECT count(*) FROM projects_invitation",
    "webhooks": "SELECT count(*) FROM projects_webhook",
    "alert_rules": "SELECT count(*) FROM alerts_alertrule",
    "findings": "SELECT count(*) FROM findings_finding",
}


def count_rows() -> dict[str, int]:
    counts = {}
    with connection.cursor() as cursor:
        for name, query in _TABLES.items():
            cursor.execute(query)
            counts[name] = int(cursor.fetchone()[0])
    return counts
