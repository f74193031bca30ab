"""`flamewatch key generate`: print a new API key for FLAMEWATCH_INIT_API_KEY."""

from argparse import Namespace

from profiler_site.cli.command import print_result
from projects.credentials import key_text


def run(options: Namespace) -> int:
    text = key_text.generate()
    return print_result(options, text, {"key": text})
