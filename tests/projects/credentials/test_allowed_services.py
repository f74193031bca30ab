"""Allowed services of API keys: in Python and in SQL."""

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from projects.credentials.allowed_services import (
    ALL_SERVICES,
    AllowedServices,
    ServiceNotAllowed,
    clean_services,
)
from projects.models import Deployment, Project
from projects.models.api_key import MAX_ALLOWED_SERVICES
from tests.profiles import rows

SERVICES = ["catalog", "catalog-api", "check.out", "checkout", "shop-eu-api"]


@pytest.mark.parametrize(
    ("names", "allowed"),
    [
        ((), SERVICES),
        (("checkout",), ["checkout"]),
        (("catalog-*",), ["catalog-api"]),
        (("catalog*",), ["catalog", "catalog-api"]),
        (("check.*",), ["check.out"]),
        (("*-eu-*", "checkout"), ["checkout", "shop-eu-api"]),
        (("*",), SERVICES),
        (("nothing",), []),
    ],
)
@pytest.mark.django_db
def test_names_and_patterns_match_alike_in_python_and_in_sql(
    names: tuple[str, ...], allowed: list[str], project: Project
) -> None:
    for service in SERVICES:
        rows.deployment(project, service=service)
    services = AllowedServices(names)
    assert [service for service in SERVICES if services.allows(service)] == allowed
    found = Deployment.objects.filter(services.condition("service"))
    assert sorted(found.values_list("service", flat=True)) == allowed


def test_rejection_names_key_allowed_services_and_service() -> None:
    with pytest.raises(ServiceNotAllowed) as raised:
        AllowedServices(("checkout", "catalog-*"), "fw_abc").require("payments")
    text = str(raised.value)
    for word in ("fw_abc…", "checkout, catalog-*", "payments", "settings"):
        assert word in text


def test_rejection_without_a_service_says_so() -> None:
    with pytest.raises(ServiceNotAllowed, match="names no service"):
        AllowedServices(("checkout",), "fw_abc").require("")


def test_rejection_names_few_of_many_services() -> None:
    names = tuple(f"service-{number}" for number in range(12))
    with pytest.raises(ServiceNotAllowed, match="service-4 and 7 more only"):
        AllowedServices(names, "fw_abc").require("payments")


def test_repeated_names_are_one() -> None:
    assert clean_services(["shop", "till", "shop"]) == ["shop", "till"]


@pytest.mark.parametrize("name", ["", "Shop", "shop till", "[a-z]", "-shop", "shop?", "a" * 300])
def test_invalid_names_are_rejected(name: str) -> None:
    with pytest.raises(ValidationError, match="no service name"):
        clean_services([name])


def test_too_many_names_are_rejected() -> None:
    clean_services(f"s{number}" for number in range(MAX_ALLOWED_SERVICES))
    with pytest.raises(ValidationError, match=str(MAX_ALLOWED_SERVICES)):
        clean_services(f"s{number}" for number in range(MAX_ALLOWED_SERVICES + 1))


@given(st.text(max_size=60))
def test_all_services_allow_every_text(service: str) -> None:
    assert ALL_SERVICES.allows(service)
