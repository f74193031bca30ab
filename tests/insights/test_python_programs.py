"""Rules for Python against profiles that our agent captures of real programs."""

import subprocess
import sys
from pathlib import Path

import pytest

from projects.profile_types import ProfileType
from tests.insights.noticed_rules import NoticedRules, find_rules

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).with_name("wastes.py")


@pytest.mark.parametrize(
    ("program", "type_", "rule"),
    [
        ("regex_compile", ProfileType.CPU, "python-regex-compile"),
        ("json_round_trips", ProfileType.CPU, "python-json"),
        ("deepcopy", ProfileType.CPU, "python-deepcopy"),
        ("date_parsing", ProfileType.CPU, "python-date-parsing"),
        ("logging_in_loop", ProfileType.CPU, "python-logging"),
        ("tracebacks", ProfileType.CPU, "python-exceptions"),
        ("imports", ProfileType.CPU, "python-import"),
        ("blocking_in_async", ProfileType.WALL, "python-blocking-in-async"),
        ("tls_contexts", ProfileType.CPU, "python-tls-handshake"),
        ("template_strings", ProfileType.CPU, "python-template-compile"),
        ("template_kept", ProfileType.CPU, None),
        ("plain_work", ProfileType.CPU, None),
        ("lock_waits", ProfileType.CONTENTION, "python-lock-waits"),
        ("logging_lock", ProfileType.CONTENTION, "python-logging-lock"),
        ("queue_workers", ProfileType.CONTENTION, None),
        ("plain_work", ProfileType.CONTENTION, None),
        ("connection_pool", ProfileType.WALL, "python-connection-pool"),
        ("gil_waits", ProfileType.WALL, "python-gil-waits"),
        ("plain_work", ProfileType.WALL, None),
        ("queue_workers", ProfileType.WALL, None),
    ],
)
def test_rule_matches_its_waste_and_no_other(
    program: str, type_: ProfileType, rule: str | None, tmp_path: Path
) -> None:
    found = capture(program, type_, tmp_path)
    assert [*found.totals] == ([rule] if rule else [])
    if rule:
        assert found.totals[rule] >= 0.5 * found.whole


@pytest.mark.parametrize(
    ("program", "rules"),
    [
        ("django_rows", {"python-django-orm"}),
        # Each query of a relation builds an instance, too.
        ("django_relations", {"python-django-orm", "python-django-lazy-relations"}),
        ("django_values", set()),
        ("sqlalchemy_rows", {"python-sqlalchemy-orm"}),
        ("sqlalchemy_relations", {"python-sqlalchemy-orm", "python-sqlalchemy-lazy-relations"}),
        ("sqlalchemy_columns", set()),
    ],
)
def test_rules_of_mappers_match_objects_and_relations(
    program: str, rules: set[str], tmp_path: Path
) -> None:
    """The profile has the start of Django or SQLAlchemy, too."""
    found = capture(program, ProfileType.CPU, tmp_path)
    assert found.totals.keys() == rules
    if rules:
        assert max(found.totals.values()) >= 0.4 * found.whole


def capture(program: str, type_: ProfileType, tmp_path: Path) -> NoticedRules:
    output = tmp_path / "profile.pb.gz"
    runner = Path(sys.executable).with_name("flamewatch-run")
    options = ["--once", type_.lower(), "-o", str(output)]
    command = [str(runner), *options, "--", sys.executable, str(PROGRAMS), program]
    subprocess.run(command, check=True, timeout=60, capture_output=True)
    return find_rules(output.read_bytes(), type_)
