"""`flamewatch migrate`: create or update the database."""

from argparse import Namespace

from django.core.management import call_command

from profiler_site.cli.command import print_result


def run(options: Namespace) -> int:
    call_command("migrate", interactive=False, verbosity=0)
    return print_result(options, "The database is up to date.", {"migrated": True})
