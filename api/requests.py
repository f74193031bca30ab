"""What a query is made of, and what it comes to, whichever resource is asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from api.formats import JSON, ResultFormat, named
from endpoints.errors import NotAcceptable
from profiles.params import values
from profiles.params.query_string import Parameters
from profiles.query import ExportFile


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request whose key may read the project."""

    project: int  # Project.pk
    project_id: str
    parameters: Parameters
    now: datetime
    preferred: Callable[[Sequence[str]], str | None]  # of media types, by the header Accept

    def form(self, *allowed: ResultFormat) -> ResultFormat:
        """As what it is to be answered: `format=`, else what Accept prefers, else the first."""
        names = tuple(form.name for form in allowed)
        text = self.parameters.read("format", lambda text: values.one_of(text, names), "")
        if text:
            return named(text, allowed)
        types = {media: form for form in allowed for media in form.accepted}
        found = self.preferred([*types])
        if found is None:
            raise NotAcceptable(f"This address answers {', '.join(types)}.")
        return types[found]


@dataclass(frozen=True, slots=True)
class ApiQuery:
    """`answer` gets a deadline of time.monotonic() and may block; it is called in a thread."""

    answer: Callable[[float], bytes | ExportFile]
    end: datetime  # of the range that is asked for
    form: ResultFormat = JSON
