"""One server for all attacks of a module, which it has to survive one after another."""

from collections.abc import Iterator

import pytest

from tests.attacks.pages import store
from tests.attacks.server import Site, attacked_site
from tests.ingest.pprof import SIMPLE


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    # A lower limit than the default, which an attack reaches within seconds.
    with attacked_site(FLAMEWATCH_MAX_LABEL_VALUES="200") as running:
        # Attacks of queries store under this deployment, whatever others used of the day's quota.
        store(running, running.attacker, 1, SIMPLE)
        yield running
