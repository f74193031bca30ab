"""Request and query of the query API, the same for all resources."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import NamedTuple

from django.http import HttpRequest

from api.formats import JSON, ResultFormat, find_format
from endpoints.errors import NotAcceptable
from endpoints.params import reader, values
from endpoints.params.parameter import Parameter
from endpoints.params.reader import StrictReader
from profiles.query import ExportFile, QueryContext


class ApiRequestFields(NamedTuple):
    """Request to the query API, whose key may read the project, as it was received."""

    project: int  # Project.pk
    project_id: str
    query_string: str
    now: datetime
    accept: str | None  # header

    def parse(self) -> "ApiRequest":
        request = HttpRequest()
        if self.accept is not None:
            request.META["HTTP_ACCEPT"] = self.accept
        return ApiRequest(
            project=self.project,
            project_id=self.project_id,
            parameters=reader.parse(self.query_string),
            now=self.now,
            preferred=request.get_preferred_type,
        )


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """Parsed request."""

    project: int  # Project.pk
    project_id: str
    parameters: StrictReader
    now: datetime
    preferred: Callable[[Sequence[str]], str | None]  # media type, by Accept

    def form(self, *allowed: ResultFormat) -> ResultFormat:
        """Return the result format: by `format=`, else by Accept, else the first allowed.

        Raise NotAcceptable if Accept names no allowed format.
        """
        choice = partial(values.choice, allowed=tuple(form.name for form in allowed))
        text = self.parameters.read(Parameter("format", "Format of the response", choice, ""))
        if text:
            return find_format(text, allowed)
        types = {media: form for form in allowed for media in form.accepted}
        found = self.preferred([*types])
        if found is None:
            raise NotAcceptable(f"No acceptable format; available: {', '.join(types)}.")
        return types[found]


@dataclass(frozen=True, slots=True)
class ApiQuery:
    """Query with validated parameters; `run` may block and is called in a thread."""

    run: Callable[[QueryContext], bytes | ExportFile]
    end: datetime  # end of the selected time range
    service: str  # "" for a list of all services, which has those that the key may read
    form: ResultFormat = JSON
