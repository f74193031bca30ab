"""Reserve of file descriptors."""

import resource

import pytest

from profiler_site.process import file_limit


@pytest.mark.parametrize(
    ("limit", "first"),
    [(1024, 924), (100, 75), (resource.RLIM_INFINITY, None)],
)
def test_the_last_descriptors_are_reserved(
    limit: int, first: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (limit, limit))
    if first is None:
        assert not file_limit.is_reserved(10**6, 100)
    else:
        assert not file_limit.is_reserved(first - 1, 100)
        assert file_limit.is_reserved(first, 100)
