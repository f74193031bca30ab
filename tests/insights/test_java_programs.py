"""Rules for Java against profiles that our agent captures of real programs."""

import gzip
import subprocess
from pathlib import Path

import pytest

from projects.profile_types import ProfileType
from tests.insights.captured_upload import capture_upload
from tests.insights.noticed_rules import find_rules
from tests.paths import ROOT
from tools.agent_archives import pack_java

pytestmark = pytest.mark.slow  # compiles the agent
SOURCE = Path(__file__).parent / "java_wastes" / "Wastes.java"


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("java_wastes")
    jar = folder / "flamewatch-agent.jar"
    pack_java(ROOT / "agents" / "java", ROOT / "LICENSE", jar)
    subprocess.run(["javac", "-d", str(folder), str(SOURCE)], check=True, capture_output=True)
    return ["java", f"-javaagent:{jar}", "-cp", str(folder), "Wastes"]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("regexCompile", "java-regex-compile"),
        ("stringFormat", "java-string-format"),
        ("dateFormat", "java-date-format"),
        ("exceptions", "java-exceptions"),
        ("plainWork", None),
    ],
)
def test_rule_matches_its_waste_and_no_other(
    command: list[str], name: str, rule: str | None
) -> None:
    found = find_rules(capture_upload([*command, name], ProfileType.CPU), ProfileType.CPU)
    assert [*found.totals] == ([rule] if rule else [])


@pytest.mark.measurement  # beside busy processes, the samples stand for all CPU time of a thread
def test_cpu_time_inside_the_jvm_is_in_the_profile(command: list[str]) -> None:
    """A thread runs for 1.5 s, mostly in the JVM, of which JFR's samples show a tenth at most."""
    profile = capture_upload([*command, "exceptions"], ProfileType.CPU)
    assert b"[native code or JVM, not sampled]" in gzip.decompress(profile)
    assert find_rules(profile, ProfileType.CPU).whole >= 500_000_000
