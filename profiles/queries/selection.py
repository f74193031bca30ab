"""What is asked: which profiles (Selection), and what of them (View)."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial, wraps
from inspect import signature
from threading import Event
from typing import ParamSpec, TypeVar, cast

from profiles.engine.cancellation import checking
from profiles.engine.metrics import Metric
from profiles.storage.blob_deadline import blob_deadline
from projects.profile_types import ProfileType

P = ParamSpec("P")
R = TypeVar("R")


class DeadlinePassed(Exception):
    """The answer was not ready in time; the text says what it waited for, if for anything."""


class InvalidQuery(Exception):
    """The question makes no sense for what is stored; the text says why."""


class MetricNotFound(InvalidQuery):
    """The selected profiles do not have the metric of the view."""


class FilterOption(StrEnum):
    """What a filter does with the frames it matches; the values are those of the URL."""

    SHOW = "show"
    HIDE = "hide"
    FROM = "from"
    HIDE_FRAMES = "hideframes"
    HIGHLIGHT = "highlight"


class Group(StrEnum):
    FUNCTION = "function"
    LINE = "line"


class Shape(StrEnum):
    """Which way a tree grows; the values are those of the URL's `view`."""

    TOP_DOWN = "flame"  # callees below their callers
    BOTTOM_UP = "bottomup"  # functions in which values arise, and below each its callers


class Order(StrEnum):
    WEIGHT = "weight"
    NAME = "name"


class ProfileOrder(StrEnum):
    """Of single profiles; of equals the newer one first."""

    NEWEST = "newest"
    HEAVIEST = "heaviest"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which profiles: those of one project, service and type with start <= time < end."""

    project: int  # projects.models.Project.pk
    service: str
    type: ProfileType
    start: datetime
    end: datetime
    zones: tuple[str, ...] = ()  # empty: all
    versions: tuple[str, ...] = ()
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()  # (name, allowed values)
    weight: float | None = None  # the top n % of profiles by total; None: all
    weights: tuple[int, int] | None = None  # the least and the most that a profile may weigh
    profile: str = ""  # the id in a profile's name: that one alone


@dataclass(frozen=True, slots=True)
class ViewFilter:
    option: FilterOption
    value: str  # a substring, or a regular expression between slashes


@dataclass(frozen=True, slots=True)
class View:
    """What is shown of the selected profiles."""

    metric: Metric | None = None  # None: the type's default
    filters: tuple[ViewFilter, ...] = ()
    shape: Shape = Shape.TOP_DOWN
    focus: str | None = None  # a function's whole name: its callers and callees alone
    group: Group = Group.FUNCTION
    root: int | None = None  # a node's id: only what is below it
    order: Order = Order.WEIGHT
    max_nodes: int = 250_000


_gone: ContextVar[Event | None] = ContextVar("flamewatch_gone", default=None)


@contextmanager
def cancelled_when(gone: Event) -> Iterator[None]:
    """Within, `check` raises DeadlinePassed also once nobody waits for the answer any more."""
    before = _gone.set(gone)
    try:
        yield
    finally:
        _gone.reset(before)


def check(deadline: float | None) -> None:
    """Raise DeadlinePassed after `deadline`, a moment of time.monotonic(); None: never."""
    if deadline is not None and time.monotonic() > deadline:
        raise DeadlinePassed
    gone = _gone.get()
    if gone is not None and gone.is_set():
        raise DeadlinePassed


@contextmanager
def query_deadline(deadline: float | None) -> Iterator[None]:
    """Within, the engine's checkpoints raise DeadlinePassed as `check` does, and blobs are not
    waited for beyond the deadline."""
    with checking(partial(check, deadline)), blob_deadline(deadline):
        yield


def watched(run: Callable[P, R]) -> Callable[P, R]:
    """A question whose parameter `deadline` holds at every checkpoint on the way to its answer."""
    place = [*signature(run).parameters].index("deadline")

    @wraps(run)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        given = args[place] if len(args) > place else kwargs.get("deadline")
        with query_deadline(cast("float | None", given)):
            return run(*args, **kwargs)

    return inside
