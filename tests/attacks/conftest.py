"""One server for all attacks of a module, which it has to survive one after another."""

from collections.abc import Iterator

import pytest

from tests.attacks.server import Site, attacked_site


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    # A lower limit than the default, which an attack reaches within seconds.
    with attacked_site(FLAMEWATCH_MAX_LABEL_VALUES="200") as running:
        yield running
