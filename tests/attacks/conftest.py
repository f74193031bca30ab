"""One server for the attacks of a module: what it survives, it has to survive in a row."""

from collections.abc import Iterator

import pytest

from tests.attacks.server import Site, attacked_site


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with attacked_site() as running:
        yield running
