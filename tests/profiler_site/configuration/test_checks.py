"""System checks of settings that start, but serve nobody well."""

import pytest
from pytest_django import Settings

from profiler_site.configuration.checks import (
    check_poll_timeout,
    check_signup_domains,
    check_single_sign_on,
)
from profiler_site.configuration.sign_on_providers import OpenIdConnectClient, build


@pytest.mark.parametrize(
    ("seconds", "warnings"),
    [(0.01, ["flamewatch.W004"]), (1, []), (50, []), (300, []), (301, ["flamewatch.W001"])],
)
def test_poll_timeout_that_is_too_short_or_too_long_is_warned_of(
    seconds: float, warnings: list[str], settings: Settings
) -> None:
    settings.POLL_TIMEOUT_SECONDS = seconds
    assert [str(message.id) for message in check_poll_timeout(None)] == warnings


def test_provider_of_single_sign_on_without_all_its_settings_is_an_error(
    settings: Settings,
) -> None:
    settings.GITHUB_CLIENT_ID = "flamewatch"
    (problem,) = check_single_sign_on(None)
    assert "FLAMEWATCH_GITHUB_CLIENT_SECRET" in problem.msg


def test_issuer_without_tls_on_another_machine_is_an_error(settings: Settings) -> None:
    settings.OIDC_ISSUER = "http://login.example.org"
    settings.OIDC_CLIENT_ID = settings.OIDC_CLIENT_SECRET = "x"
    (problem,) = check_single_sign_on(None)
    assert "https://" in problem.msg


@pytest.mark.parametrize("verifies", ["", "mail", "provider"])
def test_domains_for_sign_up_need_a_way_to_verify_addresses(
    verifies: str, settings: Settings
) -> None:
    settings.SIGNUP_DOMAINS = ("acme.example",)
    settings.SENDS_MAIL = verifies == "mail"
    none = OpenIdConnectClient("", "", "", "", "")
    is_configured = verifies == "provider"
    settings.SOCIALACCOUNT_PROVIDERS = build(
        oidc=none, google=none, github=("id", "secret") if is_configured else ("", "")
    )
    problems = [str(message.id) for message in check_signup_domains(None)]
    assert problems == ([] if verifies else ["flamewatch.E007"])
