"""Attacks of the table, one after another on one server, which has to survive them all."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.bounds import measure
from tests.attacks.server import Site, attacked_site
from tests.attacks.table import ATTACKS, Attack
from tests.paths import ROOT
from tests.services import postgresql

SERVER = [pytest.mark.server, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def site_on_postgresql() -> Iterator[Site]:
    with tempfile.TemporaryDirectory(prefix="flamewatch-attack-") as folder:
        Path(folder).chmod(0o755)  # PostgreSQL runs under its own user
        with postgresql(Path(folder)) as url, attacked_site(DATABASE_URL=url) as running:
            yield running


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(
            each, id=each.name, marks=[*SERVER, *([pytest.mark.nightly] * each.is_nightly)]
        )
        for each in ATTACKS
    ],
)
def test_neighbour_latency_stays_bounded_during_attack(
    attack: Attack, request: pytest.FixtureRequest
) -> None:
    site: Site = request.getfixturevalue("site_on_postgresql" if attack.on_postgresql else "site")
    attacker = attack.make()
    result = measure(site, attacker)
    print(result, attacker)
    result.check(attack.bounds)
    assert attacker.unexpected() == []


def rows_of_security_page() -> list[list[str]]:
    """Return the columns of the table of bounds: resource, bound, attacks."""
    section = (ROOT / "SECURITY.md").read_text().partition("### Bounds\n")[2].partition("\n#")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line[:1] == "|"]
    return rows[2:]


def test_the_security_page_names_every_attack_and_no_other() -> None:
    attacks = " ".join(attacks for *_, attacks in rows_of_security_page())
    named = {*re.findall(r"“(.+?)”", attacks)}
    elsewhere = {"two hundred flame graphs", "a full disk"}  # tests of their own
    assert named - elsewhere == {attack.name for attack in ATTACKS}
    assert elsewhere <= named


def test_every_bound_of_the_security_page_names_an_attack_or_none_yet() -> None:
    for resource, _, attacks in rows_of_security_page():
        assert "“" in attacks or attacks == "None yet", resource


def test_every_attack_has_bounds_of_no_rejections_8_threads_and_latency_at_most_5() -> None:
    for attack in ATTACKS:
        assert (attack.bounds.rejected, attack.bounds.threads) == (0, 8), attack.name
        assert attack.bounds.latency <= 5, attack.name
