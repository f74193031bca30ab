"""Flask integration: call `flamewatch.middleware.flask.label(app)` before other `before_request`.

Requests run with the label `endpoint`, the URL rule ("/orders/<int:number>").
"""

from typing import Any

import flask

from flamewatch.labelling.context import reset
from flamewatch.middleware.endpoint import begin

_TOKEN = "_flamewatch_token"  # noqa: S105  of a context variable


def label(app: Any) -> None:
    """Register the hooks that label each request. `app` is a flask.Flask."""
    app.before_request(_begin)
    app.teardown_request(_end)


def _begin() -> None:
    rule = flask.request.url_rule
    if rule is not None:
        setattr(flask.g, _TOKEN, begin(rule.rule))


def _end(_error: BaseException | None) -> None:
    token = flask.g.pop(_TOKEN, None)
    if token is not None:
        reset(token)
