"""Operator token."""

import time

import pytest

from projects.credentials import operator_token


def test_valid_token_has_its_project() -> None:
    assert operator_token.read_project(operator_token.make("acme-shop")) == "acme-shop"


def test_forged_token_has_no_project() -> None:
    forged = operator_token.make("acme-shop").replace("acme-shop", "acme-ship")
    assert operator_token.read_project(forged) is None


def test_expired_token_has_no_project(monkeypatch: pytest.MonkeyPatch) -> None:
    token = operator_token.make("acme-shop")
    later = time.time() + 61
    monkeypatch.setattr(time, "time", lambda: later)
    assert operator_token.read_project(token) is None
