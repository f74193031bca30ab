"""`flamewatch migrate`: create or update the database."""

from argparse import Namespace

from profiler_site.cli.command import print_result
from profiler_site.process.migration import migrate


def run(options: Namespace) -> int:
    migrate()
    return print_result(options, "The database is up to date.", {"migrated": True})
