"""Names of environment variables that begin with FLAMEWATCH_."""

import re
from pathlib import Path

import pytest

from profiler_site.configuration import env
from profiler_site.configuration.unknown_names import find_unknown_names

SETTINGS_PAGE = Path(__file__).parents[3] / "docs" / "reference" / "settings.md"
SETTINGS = {"FLAMEWATCH_SIGNUP", "FLAMEWATCH_MAX_SAMPLES", "FLAMEWATCH_GRPC_PORT"}


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("FLAMEWATCH_SIGNUPS", "FLAMEWATCH_SIGNUP"),
        ("FLAMEWATCH_MAXSAMPLES", "FLAMEWATCH_MAX_SAMPLES"),
        ("FLAMEWATCH_COLOUR", ""),
    ],
)
def test_unknown_name_is_found_with_a_similar_setting(name: str, suggestion: str) -> None:
    assert find_unknown_names({name: "1", "PATH": "/bin"}, SETTINGS) == [(name, suggestion)]


@pytest.mark.parametrize(
    "name",
    [
        "FLAMEWATCH_SIGNUP",
        "FLAMEWATCH_KEY",
        "FLAMEWATCH_SERVICE",
        "FLAMEWATCH_SERVICE_HOST",
        "FLAMEWATCH_SERVICE_PORT_HTTP",
        "FLAMEWATCH_PORT",
        "FLAMEWATCH_PORT_8000_TCP_ADDR",
        "FLAMEWATCH_WEB_SERVICE_PORT",
    ],
)
def test_names_of_settings_agents_and_kubernetes_are_no_mistakes(name: str) -> None:
    assert find_unknown_names({name: "1"}, SETTINGS) == []


def test_all_documented_settings_are_registered() -> None:
    documented = set(re.findall(r"`(FLAMEWATCH_[A-Z_]+)`", SETTINGS_PAGE.read_text()))
    assert documented - {"FLAMEWATCH_"} == {
        name for name in env.read_names if name.startswith("FLAMEWATCH_")
    }
