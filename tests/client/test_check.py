"""`flamewatch check` against a real server, with profiles in which one function is slower."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.client.conftest import CheckServer
from tests.client.stored_versions import PROFILES, SLOWER

pytestmark = pytest.mark.server

VERSIONS = ("--base", "1", "--head", "2")


def read_json(server: CheckServer, *arguments: str) -> dict[str, Any]:
    done = server.check(*arguments, "--json")
    assert done.stderr == ""
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_slower_function_alone_is_reported_and_fails(check_server: CheckServer) -> None:
    done = check_server.check(*VERSIONS)
    assert (done.returncode, done.stderr) == (1, "")
    head, headings, total, row, *rest = done.stdout.splitlines()
    assert head == "shop CPU: 1 → 2"
    assert headings.split()[-1] == "FUNCTION"
    assert total.split()[-1] == "total"
    assert row.endswith(f"regression  {SLOWER}")
    assert re.match(r"\s*\+2\d\.\d+ ms\s+\+[23]\d\.\d%", row)
    assert rest[-2] == "regression of 1 function"
    assert rest[-1].startswith(f"Comparison: {check_server.server.url}/p/acme-shop/compare?")


def test_json_has_the_slower_function_with_its_interval(check_server: CheckServer) -> None:
    document = read_json(check_server, *VERSIONS)
    assert document["outcome"] == "regression"
    assert document["base"] == {"version": "1", "profiles": PROFILES}
    (function,) = document["functions"]
    assert (function["kind"], function["name"]) == ("regression", SLOWER)
    assert 10 < function["percent_low"] < function["percent"] < function["percent_high"] < 40
    assert document["total"]["kind"] is None
    assert document["judged"] == 4


def test_version_against_itself_passes(check_server: CheckServer) -> None:
    done = check_server.check("--base", "1", "--head", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "no regression\n" in done.stdout


def test_faster_version_passes_with_an_improvement(check_server: CheckServer) -> None:
    document = read_json(check_server, "--base", "2", "--head", "1")
    assert document["outcome"] == "no_regression"
    assert [each["kind"] for each in document["functions"]] == ["improvement"]


def test_threshold_above_the_change_passes(check_server: CheckServer) -> None:
    assert check_server.check(*VERSIONS, "--threshold", "40").returncode == 0
    added = check_server.check(*VERSIONS, "--threshold", "10%", "--false-alarms", "0")
    assert added.returncode == 0


def test_too_few_profiles_have_an_exit_code_of_their_own(check_server: CheckServer) -> None:
    done = check_server.check("--base", "1", "--head", "3")
    assert done.returncode == 3
    assert f"Profiles: base {PROFILES}, head 3. Each version needs 8 or more" in done.stdout
    assert "not enough profiles to compare" in done.stdout
    assert check_server.check("--base", "1", "--head", "3", "--too-few", "pass").returncode == 0
    assert check_server.check(*VERSIONS, "--min-profiles", "13").returncode == 3
    assert check_server.check("--base", "1", "--head", "none").returncode == 3


def test_selection_restricts_both_versions(check_server: CheckServer) -> None:
    selected = check_server.check(*VERSIONS, "--label", "team=web", "--zone", "eu-1")
    assert selected.returncode == 1
    for restriction in (("--label", "team=other"), ("--zone", "us-1"), ("--type", "WALL")):
        assert check_server.check(*VERSIONS, *restriction).returncode == 3
    assert check_server.check(*VERSIONS, "--last", "10m").returncode == 3
    hour = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    assert check_server.check(*VERSIONS, "--since", hour).returncode == 1
    assert check_server.check(*VERSIONS, "--until", hour, "--last", "2d").returncode == 3


def test_markdown_has_a_table_without_markup_of_names(
    check_server: CheckServer, tmp_path: Path
) -> None:
    path = tmp_path / "report.md"
    done = check_server.check(*VERSIONS, "--markdown", str(path))
    assert (done.returncode, done.stderr) == (1, "")
    lines = path.read_text().splitlines()
    assert lines[0] == "### Flamewatch: regression of 1 function"
    (row,) = [line for line in lines if line.startswith("| regression")]
    assert row.count("|") == 7
    assert "<code>shop.price&#124;&#96;x&#96; &#60;b&#62;&#64;all</code>" in row
    printed = check_server.check(*VERSIONS, "--markdown")
    assert printed.stdout.splitlines()[0] == lines[0]


def test_link_leads_to_the_same_profiles(check_server: CheckServer) -> None:
    link = read_json(check_server, *VERSIONS, "--last", "2h")["url"]
    parameters = parse_qs(urlsplit(link).query)
    end = parameters.pop("end")
    assert end[0].endswith("+00:00")
    assert parameters == {
        "service": ["shop"],
        "type": ["CPU"],
        "span": ["2h"],
        "version": ["2"],
        "b.version": ["1"],
    }


@pytest.mark.parametrize(
    ("arguments", "variables", "words"),
    [
        (("--base", "1"), {}, "--head"),
        ((*VERSIONS, "--threshold", "x"), {}, "'x' is not a number"),
        ((*VERSIONS, "--false-alarms", "60"), {}, "60 is not from 0 to 50"),
        ((*VERSIONS, "--last", "1y"), {}, "span: '1y' is no duration"),
        ((*VERSIONS, "--label", "team"), {}, "--label team: write it as NAME=VALUE."),
        ((*VERSIONS, "--json", "--markdown"), {}, "Use either --json"),
        ((*VERSIONS, "--markdown", "/none/report.md"), {}, "Cannot write /none/report.md"),
        (VERSIONS, {"FLAMEWATCH_URL": "http://127.0.0.1:1"}, "No server responds"),
        (VERSIONS, {"FLAMEWATCH_KEY": "fw_wrong"}, "FLAMEWATCH_TOKEN"),
        (VERSIONS, {"FLAMEWATCH_KEY": ""}, "There is no server or token"),
    ],
)
def test_usage_and_connection_errors_exit_with_2(
    check_server: CheckServer, arguments: tuple[str, ...], variables: dict[str, str], words: str
) -> None:
    done = check_server.check(*arguments, **variables)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
