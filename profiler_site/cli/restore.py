"""`flamewatch restore DIR`: restore a backup to the database and the blob store of the settings."""

import sys
from argparse import Namespace
from pathlib import Path

from profiler_site.backups.folder import BackupError, Manifest
from profiler_site.backups.restore import check_backup, restore_backup
from profiler_site.cli.command import CommandFailed, print_result

_OTHER_KEY = (
    "flamewatch: FLAMEWATCH_SECRET_KEY is not that of the backup's server. API keys, key files and"
    " passwords work; links to embedded images and pending password resets do not, unless you set"
    " the former value."
)


def run(options: Namespace) -> int:
    path = Path(options.folder)
    try:
        if options.check:
            manifest = check_backup(path)
            return _print(options, manifest, f"The backup of {manifest.created} is complete.")
        summary = restore_backup(path, replace=options.replace)
    except BackupError as error:
        raise CommandFailed(str(error)) from None
    except OSError as error:
        raise CommandFailed(f"{error.filename or path}: {error.strerror}") from None
    if summary.has_other_secret_key:
        print(_OTHER_KEY, file=sys.stderr)
    text = f"Restored the backup of {summary.manifest.created}. Now start the server."
    return _print(options, summary.manifest, text)


def _print(options: Namespace, manifest: Manifest, text: str) -> int:
    data: dict[str, object] = {
        "created": manifest.created,
        "version": manifest.version,
        "blobs": len(manifest.blobs),
        "restored": not options.check,
    }
    return print_result(options, text, data)
