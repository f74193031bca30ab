"""Measurements that a busy machine can spoil: taken again; only what is wrong every time fails."""

from collections.abc import Callable
from typing import Any

Run = Callable[..., Any]
ATTEMPTS = 3


def measured(run: Run, check: Callable[[Any], None], *program: object) -> None:
    for attempt in range(ATTEMPTS - 1):
        try:
            return check(run(*program, attempt=attempt))
        except AssertionError:
            continue
    check(run(*program, attempt=ATTEMPTS - 1))
