"""Rules for Python against profiles that our agent captures of real programs."""

import gzip
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from insights.catalog import RULES
from profiles.engine.calltree.pattern_costs import pattern_costs
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from projects.profile_types import ProfileType

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
        ("plain_work", ProfileType.CPU, None),
    ],
)
def test_rule_matches_its_waste_and_no_other(
    program: str, type_: ProfileType, rule: str | None, tmp_path: Path
) -> None:
    output = tmp_path / "profile.pb.gz"
    runner = Path(sys.executable).with_name("flamewatch-run")
    options = ["--once", type_.lower(), "-o", str(output)]
    command = [str(runner), *options, "--", sys.executable, str(PROGRAMS), program]
    subprocess.run(command, check=True, timeout=60, capture_output=True)
    decoded = decode_profile(
        gzip.decompress(output.read_bytes()), type_, DecodeLimits(max_total=2**62)
    )
    tree = replace(decoded.tree, self=decoded.tree.self[-1:])
    rules = [each for each in RULES if type_ in each.types]
    costs = pattern_costs(tree, [each.pattern for each in rules])
    least = {each.id: each.min_share * tree.self.sum() for each in rules}
    found = {each.id: cost for each, cost in zip(rules, costs, strict=True)}
    assert [name for name, cost in found.items() if cost.total >= least[name]] == (
        [rule] if rule else []
    )
    if rule:
        assert found[rule].total >= 0.5 * tree.self.sum()
