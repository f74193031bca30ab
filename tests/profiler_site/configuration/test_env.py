"""Typed readers of environment variables."""

import re
import traceback
from collections.abc import Callable

import pytest

from profiler_site.configuration import env, mail


def test_unset_variable_gives_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FW_X", raising=False)
    assert env.integer("FW_X", 5) == 5
    assert env.seconds("FW_X", 0.5) == 0.5
    assert env.flag("FW_X", True) is True


@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_text_is_the_default(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("FW_X", value.strip())
    assert env.text("FW_X", "d") == "d"


@pytest.mark.parametrize("value", ["many", "1.5", "-1"])
def test_error_of_a_bad_number_names_variable_and_value(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("FW_X", value)
    with pytest.raises(env.BadSetting, match=f"FW_X is '{value}'; it must be a whole number"):
        env.integer("FW_X", 5)


def test_error_of_a_bad_choice_names_the_allowed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FW_X", "maybe")
    with pytest.raises(env.BadSetting, match="FW_X is 'maybe'; allowed values: yes, no"):
        env.flag("FW_X", False)


@pytest.mark.parametrize(
    "url", ["hush", "mysql://shop:hush@db/flamewatch", "", "hush@db", "postgres//shop:hush@db/x"]
)
def test_a_database_of_another_kind_is_rejected_without_its_password(url: str) -> None:
    error = error_of(env.database, "DB", url)
    assert error == "DB has to begin with sqlite://, postgres://, postgresql://."


# Passwords that are not percent-encoded, so that a part of each may be taken for a port or a name.
UNENCODED = ["hu/sh", "hu#sh", "hu?sh", "[hush", "hu]sh", "hush℀", "1/2hush", "1?2hush", "1#2hush"]


@pytest.mark.parametrize("password", UNENCODED)
def test_a_url_that_cannot_be_read_is_rejected_without_its_password(
    password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = error_of(env.database, "DB", f"postgres://shop:{password}@db/flamewatch")
    assert error.startswith("DB cannot be read as ")
    monkeypatch.setenv("FW_X", f"redis://shop:{password}@cache:6379/0")
    assert error_of(env.redis, "FW_X").startswith("FW_X cannot be read as ")
    error = error_of(mail.parse, f"smtps://shop:{password}@mail.example.org")
    assert error.startswith("FLAMEWATCH_SMTP_URL is invalid")


@pytest.mark.parametrize(
    "url", ["hush", "redis://", "redis://:hush@", "unix:///hush", "redis://cache/hush"]
)
def test_a_redis_that_cannot_be_used_is_rejected(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FW_X", url)
    assert error_of(env.redis, "FW_X").startswith("FW_X ")


@pytest.mark.parametrize(
    "url",
    ["redis://cache", "redis://:p%2Fw@cache:6379/0", "rediss://u:p%40w@cache/2?ssl_ca_certs=/ca"],
)
def test_a_redis_that_can_be_used_is_returned(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FW_X", url)
    assert env.redis("FW_X") == url


def error_of(read: Callable[..., object], *arguments: str) -> str:
    """Return the text of BadSetting, after a check that its traceback quotes no password."""
    with pytest.raises(env.BadSetting) as bad:
        read(*arguments)
    shown = traceback.format_exception(bad.value)[-1]
    assert bad.value.__suppress_context__ or bad.value.__context__ is None
    assert "hu" not in shown
    return str(bad.value)


def test_networks_are_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FW_X", raising=False)
    assert env.networks("FW_X") == ()
    monkeypatch.setenv("FW_X", "10.0.0.0/8, 192.0.2.7,2001:db8::/32,")
    assert [str(each) for each in env.networks("FW_X")] == [
        "10.0.0.0/8",
        "192.0.2.7/32",
        "2001:db8::/32",
    ]


@pytest.mark.parametrize("value", ["*", "10.0.0.0/33", "proxy.example.org"])
def test_error_of_a_bad_network_names_it(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("FW_X", f"10.0.0.0/8,{value}")
    with pytest.raises(env.BadSetting, match=rf"FW_X has '{re.escape(value)}'; .* separated by"):
        env.networks("FW_X")


@pytest.mark.parametrize("value", ["inf", "nan"])
def test_infinite_seconds_are_rejected(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("FW_X", value)
    with pytest.raises(env.BadSetting):
        env.seconds("FW_X", 1.0)


def test_list_of_numbers_is_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.integers("FW_X", (14, 3)) == (14, 3)
    monkeypatch.setenv("FW_X", "30, 7,1")
    assert env.integers("FW_X", (14, 3)) == (30, 7, 1)


@pytest.mark.parametrize("value", ["0", "7,x", "-1", "1.5", "9999999999"])
def test_invalid_list_of_numbers_is_rejected(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("FW_X", value)
    with pytest.raises(env.BadSetting, match=r"FW_X is .* a list of whole numbers"):
        env.integers("FW_X", (14, 3), lowest=1)
