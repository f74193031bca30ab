"""`flamewatch analyze`."""

import json
from datetime import timedelta

import pytest

from findings.models import Finding
from flamewatch_client.main import main
from projects.models import Project
from tests.findings.stored_services import CHANGED, END, PlantedChange, store_service

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]
AT = f"{END + timedelta(hours=5):%Y-%m-%dT%H:%M}"


@pytest.mark.slow
def test_findings_are_printed_for_people_and_programs(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    store_service(project, "shop", PlantedChange(1.3))
    assert main(["analyze", "--project", project.project_id, "--at", AT]) == 0
    printed = capsys.readouterr().out
    finding = Finding.objects.get()
    assert "Profiles before 2026-11-20 00:00 UTC." in printed
    assert f"shop CPU: regression {finding.finding_id} of {CHANGED}, +3" in printed
    assert "since 2026-11-18 12:00 UTC, since version 2" in printed
    assert main(["analyze", "--at", AT, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == {
        "end": "2026-11-20T00:00:00+00:00",
        "projects": {project.project_id: []},  # analyzed already
    }


def test_unknown_project_or_time_is_an_error(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", "--project", "nowhere"]) == 1
    assert "No project nowhere." in capsys.readouterr().err
    with pytest.raises(SystemExit) as end:
        main(["analyze", "--at", "yesterday"])
    assert end.value.code == 2
    assert "invalid time 'yesterday'" in capsys.readouterr().err
