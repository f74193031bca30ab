"""`flamewatch backup DIR`: back up the server, which may run meanwhile."""

from argparse import Namespace
from pathlib import Path

from common.amounts import bytes_text
from profiler_site.backups.create import create_backup
from profiler_site.backups.folder import BackupError
from profiler_site.cli.command import CommandFailed, print_result


def run(options: Namespace) -> int:
    path = Path(options.folder)
    try:
        summary = create_backup(path)
    except BackupError as error:
        raise CommandFailed(str(error)) from None
    except OSError as error:
        raise CommandFailed(f"{error.filename or path}: {error.strerror}") from None
    manifest = summary.manifest
    size = sum(content.size for content in manifest.blobs.values())
    print_result(
        options,
        f"{path} has the database ({bytes_text(manifest.database.size)}) and"
        f" {len(manifest.blobs):,} blobs ({bytes_text(size)}, {summary.copied:,} of them new).",
        {
            "folder": str(path),
            "database_bytes": manifest.database.size,
            "blobs": len(manifest.blobs),
            "blob_bytes": size,
            "copied": summary.copied,
            "missing": manifest.missing_blobs,
        },
    )
    if manifest.missing_blobs:
        raise CommandFailed(
            f"The backup is finished, but the blob store lacks {len(manifest.missing_blobs)} blobs"
            f" that the database names, such as {manifest.missing_blobs[0]}. Pages report their"
            " profiles as missing."
        )
    return 0
