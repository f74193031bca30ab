"""Errors of the views that respond with a fragment or a file: a sentence in plain text."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from http import HTTPStatus
from typing import Any, TypeVar, cast

from django.http import HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from frontend.http.fragments import text_error
from frontend.page_query import DEADLINE_SECONDS, PageQuery, resolve_page_query
from frontend.params.page_params import PageParams, ParsedParams
from profiles.query import DeadlinePassed, InvalidQuery, QueryContext, Selection
from projects.models import Project

View = TypeVar("View", bound=Callable[..., HttpResponse])


class IncompleteAddress(ValueError):
    """A URL names no service or no type."""

    def __init__(self) -> None:
        super().__init__(_("The address must name a service and a type."))


def require_selection(params: PageParams, project: Project, now: datetime) -> Selection:
    """Return what a URL selects, without a default. Raise `IncompleteAddress`."""
    if not params.service or params.type is None:
        raise IncompleteAddress
    return params.selection(project.pk, params.service, params.type, now)


def require_page_query(
    context: QueryContext, project: Project, params: PageParams, now: datetime
) -> PageQuery:
    """Resolve parameters, without a default. Raise `IncompleteAddress`."""
    page_query = resolve_page_query(context, project, ParsedParams(params, ()), now)
    if page_query is None or not params.service or params.type is None:
        raise IncompleteAddress
    return page_query


def text_errors(late_sentence: Promise) -> Callable[[View], View]:
    """Decorate a view: `InvalidQuery` and `IncompleteAddress` get 400, `DeadlinePassed` 503.

    The sentence for a passed deadline has `%(n)d` for its seconds.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def respond(*arguments: Any, **values: Any) -> HttpResponse:
            try:
                return view(*arguments, **values)
            except (InvalidQuery, IncompleteAddress) as error:
                return text_error(HTTPStatus.BAD_REQUEST, str(error))
            except DeadlinePassed:
                sentence = str(late_sentence) % {"n": DEADLINE_SECONDS}
                return text_error(HTTPStatus.SERVICE_UNAVAILABLE, sentence)

        return cast("View", respond)

    return decorate
