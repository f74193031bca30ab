"""One server for all attacks of a module, which it has to survive one after another."""

from collections.abc import Iterator

import pytest

from tests.attacks.server import Site, attacked_site


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with attacked_site() as running:
        yield running
