"""`flamewatch doctor`: check the installation without starting the server."""

import json
from argparse import Namespace
from dataclasses import asdict

from profiler_site.diagnosis.finding import Finding, Severity
from profiler_site.diagnosis.installation_checks import check_installation

_NAME_WIDTH = 12


def run(options: Namespace) -> int:
    """Print one line for each check. Return 1 if any has failed, else 0."""
    findings = check_installation()
    if options.json:
        print(json.dumps([asdict(each) for each in findings]))
    else:
        for each in findings:
            print(_line(each))
    return int(any(each.severity is Severity.FAILED for each in findings))


def _line(finding: Finding) -> str:
    return f"{finding.severity:8} {finding.name:{_NAME_WIDTH}} {finding.text}"
