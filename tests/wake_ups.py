"""Count of the wake-ups of event loops by other threads."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest


def count_wakes(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list that records each callback scheduled with call_soon_threadsafe."""
    seen: list[object] = []
    wake = asyncio.BaseEventLoop.call_soon_threadsafe

    def counted(loop: Any, callback: Callable[..., object], *args: Any, **kwargs: Any) -> object:
        seen.append(callback)
        return wake(loop, callback, *args, **kwargs)

    monkeypatch.setattr(asyncio.BaseEventLoop, "call_soon_threadsafe", counted)
    return seen
