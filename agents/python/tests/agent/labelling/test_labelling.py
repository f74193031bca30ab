"""Scope of flamewatch.labels: propagation to tasks and threads, and its end."""

import asyncio
import contextvars
import inspect

import pytest

import flamewatch
from flamewatch.labelling.context import RUNNING, add, reset
from flamewatch.labelling.encoding import decode


def now() -> dict[str, str]:
    return dict(decode(RUNNING.get()))


def test_labels_apply_inside_their_block_only() -> None:
    with flamewatch.labels(endpoint="/pay", tenant=7):
        assert now() == {"endpoint": "/pay", "tenant": "7"}
    assert now() == {}


def test_inner_labels_override_outer_ones_until_their_end() -> None:
    with flamewatch.labels(endpoint="/", tenant="acme"):
        with flamewatch.labels(endpoint="/pay"):
            assert now() == {"endpoint": "/pay", "tenant": "acme"}
        assert now() == {"endpoint": "/", "tenant": "acme"}


def test_exception_in_the_block_propagates_and_removes_its_labels() -> None:
    with pytest.raises(KeyError), flamewatch.labels(a="b"):
        raise KeyError
    assert now() == {}


def test_a_decorated_function_is_labelled_at_each_call() -> None:
    @flamewatch.labels(job="report")
    def report(depth: int) -> dict[str, str]:
        return report(depth - 1) if depth else now()

    assert report(3) == {"job": "report"}
    assert report.__name__ == "report"
    assert now() == {}


async def test_a_decorated_coroutine_is_labelled_while_it_runs() -> None:
    @flamewatch.labels(job="report")
    async def report() -> dict[str, str]:
        await asyncio.sleep(0)
        return now()

    assert inspect.iscoroutinefunction(report)
    assert await asyncio.gather(report(), report()) == [{"job": "report"}] * 2
    assert now() == {}


async def test_tasks_have_their_own_labels_and_inherit_those_of_their_creator() -> None:
    async def inner() -> dict[str, str]:
        await asyncio.sleep(0)
        return now()

    async def outer(name: str) -> tuple[dict[str, str], ...]:
        with flamewatch.labels(endpoint=name):
            await asyncio.sleep(0)
            return await asyncio.create_task(inner()), await asyncio.to_thread(now)

    results = await asyncio.gather(outer("/a"), outer("/b"), inner())
    assert results == [({"endpoint": "/a"},) * 2, ({"endpoint": "/b"},) * 2, {}]


def test_a_value_without_text_is_no_error() -> None:
    class Mute:
        def __str__(self) -> str:
            raise RuntimeError("no words")

    with flamewatch.labels(what=Mute()):
        assert now() == {"what": "(no text)"}


def test_an_end_in_another_context_is_no_error_and_touches_nothing() -> None:
    token = add("endpoint", "/pay")
    contextvars.Context().run(reset, token)
    assert now() == {"endpoint": "/pay"}
    reset(token)
    assert now() == {}
