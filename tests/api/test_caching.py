"""HTTP caching: ETags, closed ranges, compression."""

import gzip

import pytest

from projects.models import Deployment
from tests.api.conftest import Ask
from tests.profiles import rows

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_unchanged_result_is_304(ask: Ask, shop: Deployment) -> None:
    first = ask("tree")
    tag = first.headers["etag"]
    again = ask("tree", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == tag
    rows.stored(shop, minutes=30)
    changed = ask("tree", headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag


def test_the_tag_is_the_same_however_it_is_packed(ask: Ask) -> None:
    packed, plain = (ask("tree", headers={"Accept-Encoding": c}) for c in ("gzip", "identity"))
    assert "content-encoding" not in plain.headers
    assert packed.headers.get("content-encoding", "gzip") == "gzip"
    assert packed.content == plain.content
    assert packed.headers["etag"] == plain.headers["etag"]


def test_large_responses_are_compressed(ask: Ask, shop: Deployment) -> None:
    rows.stored(shop, {f"main;work_{i}": 1 for i in range(300)}, minutes=3)
    response = ask("tree", headers={"Accept-Encoding": "gzip"})
    assert response.headers["content-encoding"] == "gzip"
    assert int(response.headers["content-length"]) < len(response.content) / 2
    assert len(response.json()["names"]) == 304


def test_a_file_that_is_packed_is_not_packed_again(ask: Ask, shop: Deployment) -> None:
    rows.stored(shop, {f"main;work_{i}": i + 1 for i in range(900)}, minutes=3)
    response = ask("tree", format="pprof", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in response.headers
    assert gzip.decompress(response.content)


def test_closed_ranges_may_be_cached(ask: Ask) -> None:
    assert ask("tree").headers["cache-control"] == "private, max-age=300"
    following = ask("tree", **{"from": None, "to": None, "span": "1h"})
    assert following.headers["cache-control"] == "private, no-cache"
    assert "Authorization" in following.headers["vary"]
    assert following.headers["x-content-type-options"] == "nosniff"
