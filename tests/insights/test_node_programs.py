"""Rules for Node.js against profiles that our agent captures of real programs."""

import pytest

from projects.profile_types import ProfileType
from tests.insights.captured_upload import capture_upload
from tests.insights.noticed_rules import find_rules
from tests.paths import ROOT

PROGRAM = ROOT / "tests" / "insights" / "node_wastes" / "main.js"


@pytest.mark.slow  # captures for 1.5 s
@pytest.mark.parametrize("type_", [ProfileType.CPU, ProfileType.WALL])
@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("keepGarbage", "node-gc"),
        ("readFiles", "node-sync-files"),
        ("deriveKeys", "node-sync-crypto"),
        ("compress", "node-sync-zlib"),
        ("plainWork", None),
    ],
)
def test_rule_matches_its_waste_and_no_other(
    name: str, rule: str | None, type_: ProfileType
) -> None:
    command = ["node", str(PROGRAM), str(ROOT / "agents" / "node"), name]
    found = find_rules(capture_upload(command, type_), type_)
    # Files and compressed data are garbage afterwards, of which the rule may be true, too.
    garbage = {"node-gc"} if name in ("readFiles", "compress") else set()
    assert {*found.totals} - garbage == ({rule} if rule else set())
