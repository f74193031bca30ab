"""Rules for Java against profiles that our agent captures of real programs.

Not the one for exceptions: JFR takes few samples of a program that makes them, and some captures
have none in a constructor.
"""

import subprocess
from pathlib import Path

import pytest

from projects.profile_types import ProfileType
from tests.insights.captured_upload import capture_upload
from tests.insights.noticed_rules import find_rules
from tests.paths import ROOT
from tools.agent_archives import pack_java

SOURCE = Path(__file__).parent / "java_wastes" / "Wastes.java"


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("java_wastes")
    jar = folder / "flamewatch-agent.jar"
    pack_java(ROOT / "agents" / "java", ROOT / "LICENSE", jar)
    subprocess.run(["javac", "-d", str(folder), str(SOURCE)], check=True, capture_output=True)
    return ["java", f"-javaagent:{jar}", "-cp", str(folder), "Wastes"]


@pytest.mark.slow  # compiles the agent
@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("regexCompile", "java-regex-compile"),
        ("stringFormat", "java-string-format"),
        ("dateFormat", "java-date-format"),
        ("plainWork", None),
    ],
)
def test_rule_matches_its_waste_and_no_other(
    command: list[str], name: str, rule: str | None
) -> None:
    found = find_rules(capture_upload([*command, name], ProfileType.CPU), ProfileType.CPU)
    assert [*found.totals] == ([rule] if rule else [])
