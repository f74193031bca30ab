"""`flamewatch migrate`: create or update the database."""

from argparse import Namespace

from django.core.management import call_command

from profiler_site.cli.command import answer


def run(options: Namespace) -> int:
    call_command("migrate", interactive=False, verbosity=0)
    return answer(options, "The database is up to date.", {"migrated": True})
