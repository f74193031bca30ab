"""How often another thread wakes an event loop."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest


def count_wakes(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Gets what is called on any loop, each time that a thread asks for it."""
    seen: list[object] = []
    wake = asyncio.BaseEventLoop.call_soon_threadsafe

    def counted(loop: Any, callback: Callable[..., object], *args: Any, **kwargs: Any) -> object:
        seen.append(callback)
        return wake(loop, callback, *args, **kwargs)

    monkeypatch.setattr(asyncio.BaseEventLoop, "call_soon_threadsafe", counted)
    return seen
