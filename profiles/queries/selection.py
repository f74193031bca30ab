"""Selection (which profiles), View (how to show them), and the deadline of a query."""

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
    """Deadline of a query passed, or its client is gone; the text names what was waited for."""


class InvalidQuery(Exception):
    """Query that cannot be answered for the stored profiles; the text gives the reason."""


class MetricNotFound(InvalidQuery):
    """Metric of the view that the selected profiles do not have."""


class FilterOption(StrEnum):
    """Effect of a filter on matching frames; the values appear in URLs."""

    SHOW = "show"
    HIDE = "hide"
    FROM = "from"
    HIDE_FRAMES = "hideframes"
    HIGHLIGHT = "highlight"


class Group(StrEnum):
    FUNCTION = "function"
    LINE = "line"


class Shape(StrEnum):
    """Direction of a call tree; the values are those of the URL parameter `view`."""

    TOP_DOWN = "flame"  # callees below their callers
    BOTTOM_UP = "bottomup"  # roots are the functions with self values, callers are below them


class Order(StrEnum):
    WEIGHT = "weight"
    NAME = "name"


class ProfileOrder(StrEnum):
    """Order of single profiles; among equal ones the newer profile comes first."""

    NEWEST = "newest"
    HEAVIEST = "heaviest"


@dataclass(frozen=True, slots=True)
class Selection:
    """Filter for profiles of one project, service and type with start <= time < end."""

    project: int  # projects.models.Project.pk
    service: str
    type: ProfileType
    start: datetime
    end: datetime
    zones: tuple[str, ...] = ()  # empty: all
    versions: tuple[str, ...] = ()
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()  # (name, allowed values)
    weight: float | None = None  # the top n % of profiles by total; None: all
    weights: tuple[int, int] | None = None  # least and greatest weight, both inclusive
    profile: str = ""  # Profile.name_id, to select a single profile


@dataclass(frozen=True, slots=True)
class ViewFilter:
    """Filter of a view on the frames that `value` matches by function or file."""

    option: FilterOption
    value: str  # a substring, or a regular expression between slashes


@dataclass(frozen=True, slots=True)
class View:
    """Metric, filters and shape in which the selected profiles are shown."""

    metric: Metric | None = None  # None: the type's default
    filters: tuple[ViewFilter, ...] = ()
    shape: Shape = Shape.TOP_DOWN
    focus: str | None = None  # full name of a function: show its callers and callees only
    group: Group = Group.FUNCTION
    root: int | None = None  # id of a node: show this node and its descendants only
    order: Order = Order.WEIGHT
    max_nodes: int = 250_000


_gone: ContextVar[Event | None] = ContextVar("flamewatch_gone", default=None)


@contextmanager
def cancelled_when(gone: Event) -> Iterator[None]:
    """Make `check` raise DeadlinePassed inside the block as soon as the event `gone` is set."""
    before = _gone.set(gone)
    try:
        yield
    finally:
        _gone.reset(before)


def check(deadline: float | None) -> None:
    """Raise DeadlinePassed if the query's client is gone or the deadline has passed.

    `deadline` is in seconds of time.monotonic(); None: no deadline.
    """
    if deadline is not None and time.monotonic() > deadline:
        raise DeadlinePassed
    gone = _gone.get()
    if gone is not None and gone.is_set():
        raise DeadlinePassed


@contextmanager
def query_deadline(deadline: float | None) -> Iterator[None]:
    """Apply the deadline to the engine and to blob reads inside the block.

    The engine's cancellation checks call `check`, and blob reads wait until the deadline only.
    """
    with checking(partial(check, deadline)), blob_deadline(deadline):
        yield


def watched(run: Callable[P, R]) -> Callable[P, R]:
    """Decorate a query so that its parameter `deadline` applies to all it calls.

    See `query_deadline`.
    """
    place = [*signature(run).parameters].index("deadline")

    @wraps(run)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        given = args[place] if len(args) > place else kwargs.get("deadline")
        with query_deadline(cast("float | None", given)):
            return run(*args, **kwargs)

    return inside
