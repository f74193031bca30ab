"""Typed readers of environment variables."""

import pytest
from django.conf import settings

from profiler_site.configuration import env


def test_it_takes_the_default_where_nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FW_X", raising=False)
    assert env.integer("FW_X", 5) == 5
    assert env.seconds("FW_X", 0.5) == 0.5
    assert env.flag("FW_X", True) is True


@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_text_is_the_default(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("FW_X", value.strip())
    assert env.text("FW_X", "d") == "d"


@pytest.mark.parametrize("value", ["many", "1.5", "-1"])
def test_a_wrong_number_names_itself(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("FW_X", value)
    with pytest.raises(env.BadSetting, match=f"FW_X is '{value}'; it must be a whole number"):
        env.integer("FW_X", 5)


def test_a_wrong_choice_names_the_allowed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FW_X", "maybe")
    with pytest.raises(env.BadSetting, match="FW_X is 'maybe'; allowed values: yes, no"):
        env.flag("FW_X", False)


@pytest.mark.parametrize("url", ["nonsense", "mysql://shop@db/flamewatch", ""])
def test_a_database_of_another_kind_is_refused_without_its_password(url: str) -> None:
    allowed = "allowed: sqlite, postgres, postgresql"
    with pytest.raises(env.BadSetting, match=rf"DB starts with '\w*'; {allowed}\.$"):
        env.database("DB", url)
    with pytest.raises(env.BadSetting, match="DB cannot be read: "):
        env.database("DB", "postgres://shop@db:port/flamewatch")


@pytest.mark.parametrize("value", ["inf", "nan"])
def test_seconds_are_finite(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("FW_X", value)
    with pytest.raises(env.BadSetting):
        env.seconds("FW_X", 1.0)


def test_a_former_name_is_read_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(env.FORMER_NAMES, "FW_NEW", "FW_OLD")
    monkeypatch.setenv("FW_OLD", "7")
    with pytest.warns(FutureWarning, match="FW_OLD is deprecated; use FW_NEW"):
        assert env.integer("FW_NEW", 5) == 7
    monkeypatch.setenv("FW_NEW", "8")
    assert env.integer("FW_NEW", 5) == 8


def test_an_error_names_the_variable_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(env.FORMER_NAMES, "FW_NEW", "FW_OLD")
    monkeypatch.setenv("FW_OLD", "many")
    with (
        pytest.warns(FutureWarning),
        pytest.raises(env.BadSetting, match="FW_OLD is 'many'; it must be a whole number"),
    ):
        env.integer("FW_NEW", 5)


@pytest.mark.parametrize("name", env.FORMER_NAMES)
def test_former_names_are_those_of_settings(name: str) -> None:
    assert hasattr(settings, name.removeprefix("FLAMEWATCH_"))
