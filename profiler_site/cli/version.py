"""`flamewatch version`: print the version."""

from argparse import Namespace

from django.conf import settings

from profiler_site.cli.command import answer


def run(options: Namespace) -> int:
    return answer(options, f"flamewatch {settings.VERSION}", {"version": settings.VERSION})
