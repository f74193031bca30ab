"""Error responses of the views for fragments, files and JSON: one mapping from exceptions.

Pages show the same errors as empty states instead (`empty_state.py`).
"""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from http import HTTPStatus
from typing import Any, TypeVar, cast

from django.http import HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from frontend.http.fragments import json_error, text_error
from frontend.page_query import DEADLINE_SECONDS, PageQuery, resolve_page_query
from frontend.params.page_params import PageParams, ParsedParams
from profiles.query import DeadlinePassed, InvalidQuery, QueryContext, Selection
from projects.models import Project

View = TypeVar("View", bound=Callable[..., HttpResponse])


class BadSelectionAddress(ValueError):
    """A URL selects no profiles, or some that the view cannot show. Its text is for users."""


def require_selection(params: PageParams, project: Project, now: datetime) -> Selection:
    """Return what a URL selects, without a default. Raise `BadSelectionAddress`."""
    if not params.service or params.type is None:
        raise BadSelectionAddress(_("The address must name a service and a type."))
    return params.selection(project.pk, params.service, params.type, now)


def require_page_query(
    context: QueryContext, project: Project, params: PageParams, now: datetime
) -> PageQuery:
    """Resolve parameters, without a default. Raise `BadSelectionAddress`."""
    page_query = resolve_page_query(context, project, ParsedParams(params, ()), now)
    if page_query is None or not params.service or params.type is None:
        raise BadSelectionAddress(_("The address must name a service and a type."))
    return page_query


def text_errors(late_sentence: Promise) -> Callable[[View], View]:
    """Decorate a view of a fragment or a file; its error responses are sentences in plain text.

    `BadSelectionAddress` and `InvalidQuery` get 400, `DeadlinePassed` gets 503 with
    `late_sentence`, whose `%(n)d` is the deadline in seconds.
    """
    return _map_errors(late_sentence, text_error)


def json_errors(late_sentence: Promise) -> Callable[[View], View]:
    """Decorate a view of JSON as `text_errors` does; its errors are {"error": sentence}."""
    return _map_errors(late_sentence, json_error)


def _map_errors(
    late_sentence: Promise, build_response: Callable[[HTTPStatus, str], HttpResponse]
) -> Callable[[View], View]:
    def decorate(view: View) -> View:
        @wraps(view)
        def respond(*arguments: Any, **values: Any) -> HttpResponse:
            try:
                return view(*arguments, **values)
            except (InvalidQuery, BadSelectionAddress) as error:
                return build_response(HTTPStatus.BAD_REQUEST, str(error))
            except DeadlinePassed:
                sentence = str(late_sentence) % {"n": DEADLINE_SECONDS}
                return build_response(HTTPStatus.SERVICE_UNAVAILABLE, sentence)

        return cast("View", respond)

    return decorate
