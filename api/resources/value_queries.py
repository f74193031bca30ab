"""Resources of queries with a selection, a view and parameters of their own, one row each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from api.documents import selection_fields
from api.formats import JSON
from api.requests import ApiQuery, ApiRequest
from endpoints.params import values
from endpoints.params.lists import FUNCTION, GROUP_BY, STEP
from endpoints.params.parameter import Parameter, Repeated
from endpoints.params.selection import read_selection
from endpoints.params.view import read_view
from profiles.query import (
    Coverage,
    QueryContext,
    Selection,
    dumps,
    history_document,
    matcher,
    run_history,
    run_series,
    series_document,
)


class ValueResult(Protocol):
    @property
    def selection(self) -> Selection: ...

    @property
    def coverage(self) -> Coverage: ...


R = TypeVar("R", bound=ValueResult)


@dataclass(frozen=True, slots=True)
class ValueQuery(Generic[R]):
    """Resource `…/NAME`: its query, the JSON of its result, and its parameters by argument."""

    run: Callable[..., R]  # takes the context, the selection, the view and the arguments
    document: Callable[[R], dict[str, Any]]  # fields besides those of the selection
    parameters: Mapping[str, Parameter[Any, Any] | Repeated[Any]]

    def query(self, request: ApiRequest) -> ApiQuery:
        request.form(JSON)
        reader = request.parameters
        selection = read_selection(reader, request.project, request.now)
        view = read_view(reader)
        arguments = {
            name: reader.several(each) if isinstance(each, Repeated) else reader.read(each)
            for name, each in self.parameters.items()
        }

        def run(context: QueryContext) -> bytes:
            result = self.run(context, selection, view, **arguments)
            common = selection_fields(request, result.selection, result.coverage)
            return dumps({**common, **self.document(result)})

        return ApiQuery(run, selection.end, selection.service)


def _pattern(text: str) -> str:
    """Return a substring of function names, or a regular expression between slashes."""
    matcher(text)
    return text


SHOW = Repeated("show", "Only functions that match one of these patterns", _pattern)
HIDE = Repeated("hide", "Only functions that match none of these patterns", _pattern)
FUNCTIONS = Parameter("size", "Number of functions", partial(values.count, most=50), 5)
GROUPS = Parameter("size", "Number of values", partial(values.count, most=100), 10)

VALUE_QUERIES: Mapping[str, ValueQuery[Any]] = {
    "history": ValueQuery(
        run_history,
        history_document,
        {"step": STEP, "names": FUNCTION, "show": SHOW, "hide": HIDE, "lines": FUNCTIONS},
    ),
    "series": ValueQuery(
        run_series, series_document, {"group_by": GROUP_BY, "step": STEP, "size": GROUPS}
    ),
}
