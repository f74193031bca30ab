"""Notices of the number of matching profiles that a page's values leave out."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from projects.models import Project, User
from tests.frontend.pages.agents.test_agents import add_agent
from tests.profiles import rows

pytestmark = pytest.mark.django_db
WHAT = {"service": "checkout", "type": "CPU", "span": "2h"}
SENTENCE = "2 profiles are left out. No metric cpu (nanoseconds); available: samples (count)."


@pytest.fixture
def signed_in(client: Client, bob: User) -> Client:
    client.force_login(bob)
    return client


@pytest.fixture
def profiles(project: Project) -> None:
    """Store three profiles with CPU time, and two of an agent that only counts samples."""
    of = rows.deployment(project, service="checkout")
    before = (timezone.now() - rows.NOON - timedelta(minutes=30)) / timedelta(minutes=1)
    for number in range(3):
        rows.stored(of, {"main": 9}, minutes=before + number)
    for number in range(2):
        rows.stored(
            of, {"main": 9}, minutes=before + 9 + number, sample_types=[("samples", "count")]
        )


@pytest.mark.parametrize("page", ["flame", "history", "profiles", "compare"])
def test_each_page_has_a_notice_of_profiles_left_out(
    signed_in: Client, profiles: None, page: str
) -> None:
    sides = {"b.span": "2h"} if page == "compare" else {}
    html = signed_in.get(f"/p/acme-shop/{page}", WHAT | sides).content.decode()
    assert "left out. No metric cpu (nanoseconds); available: samples (count)." in html
    if page != "compare":
        assert SENTENCE in html


def test_lines_of_a_function_have_the_notice(signed_in: Client, profiles: None) -> None:
    params = WHAT | {"name": "main", "file": "app.py"}
    html = signed_in.get("/p/acme-shop/flame/lines", params).content.decode()
    assert SENTENCE in html


def test_download_has_the_number_left_out_in_a_header(signed_in: Client, profiles: None) -> None:
    for form in ("pprof", "folded", "speedscope", "csv"):
        response = signed_in.get(f"/p/acme-shop/flame/download/{form}", WHAT)
        assert response["X-Flamewatch-Left-Out"] == "2"


def test_agents_page_has_a_notice_of_partly_stored_uploads(
    signed_in: Client, project: Project
) -> None:
    now = timezone.now()
    warning = "inuse_space (bytes) is left out: it is a difference of two profiles."
    add_agent(project, "partly", report={"warning": warning, "warned_at": now})
    old = {"warning": "alloc_space is left out.", "warned_at": now - timedelta(days=2)}
    add_agent(project, "long-ago", report=old)
    html = signed_in.get("/p/acme-shop/agents").content.decode()
    assert f"Partially stored: {warning}" in html
    assert "alloc_space is left out" not in html
