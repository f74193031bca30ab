"""`flamewatch version`: print the version."""

from argparse import Namespace

from django.conf import settings

from profiler_site.cli.command import print_result


def run(options: Namespace) -> int:
    return print_result(options, f"flamewatch {settings.VERSION}", {"version": settings.VERSION})
