"""`flamewatch` command line: parse the arguments, set the environment and run one command."""

import argparse
import os
import sys
from collections.abc import Sequence

import django
from django.db import DatabaseError, OperationalError, ProgrammingError
from psycopg.errors import UndefinedTable

from common.disk_space import is_disk_full
from profiler_site.cli import command
from profiler_site.configuration.env import BadSetting
from profiler_site.process.data_folder import PRIVATE_UMASK
from profiler_site.process.migration import DatabaseTooOld


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0 on success, 1 on failure and 2 for invalid arguments."""
    return run_command(_parser().parse_args(argv))


def run_command(options: argparse.Namespace) -> int:
    """Run the command of parsed arguments; return 0 on success and 1 on failure."""
    umask = os.umask(PRIVATE_UMASK)  # for the files of the data folder, whoever creates them
    try:
        return _run(options)
    finally:
        os.umask(umask)


def _run(options: argparse.Namespace) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
    # OpenBLAS starts a thread for each core at its import: nothing here multiplies matrices, and a
    # process with threads cannot be forked.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if options.data_dir:
        os.environ["FLAMEWATCH_DATA_DIR"] = options.data_dir
    if "host" in options:
        os.environ.setdefault("FLAMEWATCH_URL", f"http://{options.host}:{options.port}")
    try:
        if options.command not in command.WITHOUT_DJANGO:
            django.setup()
        return command.load(options.command)(options)
    except (BadSetting, command.CommandFailed, DatabaseTooOld) as failure:
        return _fail(str(failure))
    except (OperationalError, ProgrammingError) as failure:
        if _is_missing_table(failure):
            return _fail(
                "The database has no tables of Flamewatch. Check --data-dir and DATABASE_URL, or "
                "run `flamewatch migrate`."
            )
        if isinstance(failure, ProgrammingError):
            raise
        return _fail(f"Cannot use the database (DATABASE_URL): {failure}")
    except OSError as failure:
        if not is_disk_full(failure):
            raise
        return _fail(f"The disk of the data folder is full. Free some space there. ({failure})")


def _is_missing_table(failure: DatabaseError) -> bool:
    is_sqlite = str(failure).startswith("no such table")
    return is_sqlite or isinstance(failure.__cause__, UndefinedTable)


def _fail(reason: str) -> int:
    print(f"flamewatch: {reason.strip()}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="flamewatch", description="Run and administer a Flamewatch server."
    )
    command.add_server_commands(parser.add_subparsers(required=True, metavar="COMMAND"))
    return parser


if __name__ == "__main__":
    sys.exit(main())
