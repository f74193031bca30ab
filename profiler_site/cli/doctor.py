"""`flamewatch doctor`: check the installation without starting the server."""

import json
from argparse import Namespace
from dataclasses import asdict

from profiler_site.diagnosis.installation_checks import check_installation
from profiler_site.diagnosis.result import DiagnosisResult, Severity

_NAME_WIDTH = 12


def run(options: Namespace) -> int:
    """Print one line for each check. Return 1 if any has failed, else 0."""
    results = check_installation()
    if options.json:
        print(json.dumps([asdict(each) for each in results]))
    else:
        for each in results:
            print(_line(each))
    return int(any(each.severity is Severity.FAILED for each in results))


def _line(result: DiagnosisResult) -> str:
    return f"{result.severity:8} {result.name:{_NAME_WIDTH}} {result.text}"
