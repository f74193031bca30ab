"""Signed profile names, verified without a database query."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from endpoints.errors import NotFound
from ingest.cloud_profiler import names
from ingest.cloud_profiler.names import Issued
from projects.profile_types import ProfileType

NOW = 1_800_000_000.25
ISSUED = Issued(ProfileType.CPU, project=1, deployment=2, agent=3, issued=NOW, key_id="AbCdEfGh12")
KEYS = st.integers(1, 2**63 - 1)


@given(
    st.builds(
        Issued,
        st.sampled_from(ProfileType),
        KEYS,
        KEYS,
        st.none() | KEYS,
        st.integers(0, 2**32).map(float),
        st.text(string.ascii_letters + string.digits, min_size=10, max_size=10) | st.just(""),
    )
)
def test_checked_name_has_what_was_issued(issued: Issued) -> None:
    assert names.check(names.issue(issued, "acme-shop"), "acme-shop", issued.issued) == issued


def test_no_name_is_issued_twice() -> None:
    assert names.issue(ISSUED, "acme-shop") != names.issue(ISSUED, "acme-shop")


def test_a_name_fits_its_column_and_a_path() -> None:
    name = names.issue(ISSUED, "acme-shop")
    assert len(name) <= 255
    assert set(name) <= set(string.ascii_letters + string.digits + "-_")


@given(st.integers(0, 200), st.sampled_from(string.ascii_letters + string.digits + "-_"))
def test_a_name_with_another_digit_is_forged(position: int, digit: str) -> None:
    name = names.issue(ISSUED, "acme-shop")
    position %= len(name)
    forged = name[:position] + digit + name[position + 1 :]
    if forged != name:
        with pytest.raises(NotFound):
            names.check(forged, "acme-shop", NOW)


@given(st.text())
def test_any_other_text_is_forged(text: str) -> None:
    with pytest.raises(NotFound):
        names.check(text, "acme-shop", NOW)


def test_name_of_another_project_is_rejected() -> None:
    with pytest.raises(NotFound):
        names.check(names.issue(ISSUED, "acme-shop"), "other-shop", NOW)


def test_name_expires_after_an_hour() -> None:
    name = names.issue(ISSUED, "acme-shop")
    assert names.check(name, "acme-shop", NOW + 3600) == ISSUED
    with pytest.raises(NotFound, match="expired"):
        names.check(name, "acme-shop", NOW + 3601)


def test_name_issued_in_the_future_is_rejected() -> None:
    with pytest.raises(NotFound):
        names.check(names.issue(ISSUED, "acme-shop"), "acme-shop", NOW - 61)


def test_a_name_signed_with_another_key_is_forged(settings: object) -> None:
    name = names.issue(ISSUED, "acme-shop")
    settings.SECRET_KEY = "another"  # type: ignore[attr-defined]
    names._get_keyed_hmac.cache_clear()
    try:
        with pytest.raises(NotFound):
            names.check(name, "acme-shop", NOW)
    finally:
        names._get_keyed_hmac.cache_clear()
