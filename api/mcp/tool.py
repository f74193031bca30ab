"""Tool of an assistant: its arguments, and the query that it runs.

Arguments have the names and the meaning of the query API's parameters, and the same readers parse
them: a list is a repeated parameter, and a member of an object has a point in its name, as in
`label.NAME`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from endpoints.params import parameter
from endpoints.params.parameter import Family, Parameter, Repeated
from endpoints.params.reader import MAX_PARAMETERS, BadParameter, Pair, StrictReader
from profiles.query import QueryContext

Arguments = dict[str, Any]  # as a client has sent them, by name
Schema = dict[str, Any]

PROJECT = parameter.text("project", "ID of the project; an API key has its own without it")


@dataclass(frozen=True, slots=True)
class Argument:
    """Argument of a tool, declared like a parameter of the query API."""

    declaration: Parameter[Any, Any] | Repeated[Any] | Family
    is_required: bool = False
    schema: Schema = field(default_factory=dict)  # besides the type and the description
    prefix: str = ""  # in front of the declaration's name

    @property
    def name(self) -> str:
        each = self.declaration
        own = each.prefix.rstrip(".") if isinstance(each, Family) else each.name
        return f"{self.prefix}{own}"

    def describe(self) -> Schema:
        """Return the argument's JSON Schema."""
        texts: Schema = {"type": "array", "items": {"type": "string"}}
        match self.declaration:
            case Family():
                schema: Schema = {"type": "object", "additionalProperties": texts}
            case Repeated():
                schema = texts
            case _:
                schema = {"type": "string"}
        return {**schema, "description": self.declaration.meaning, **self.schema}


class ToolRequest(NamedTuple):
    """Call with a reader of its arguments."""

    project: int  # Project.pk
    project_id: str
    parameters: StrictReader
    now: datetime


class ToolCall(NamedTuple):
    """Call as it was received; worker processes get it too."""

    project: int  # Project.pk
    project_id: str
    arguments: Arguments
    now: datetime


@dataclass(frozen=True, slots=True)
class ToolQuery:
    """Query with validated arguments; `run` may block, and returns the text of the result."""

    run: Callable[[QueryContext], str]
    service: str  # "" for a list of all services, which has those that the key may read


@dataclass(frozen=True, slots=True)
class Tool:
    """Tool that reads profiles of one project."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    query: Callable[[ToolRequest], ToolQuery]

    def parse(self, call: ToolCall) -> ToolQuery:
        """Return the query of a call. Raise BadParameter for an unknown or an invalid argument."""
        names = [each.name for each in (*self.arguments, Argument(PROJECT))]
        for name in call.arguments:
            if name not in names:
                raise BadParameter(name, f"is unknown here; there are {', '.join(names)}")
        reader = StrictReader(to_pairs(call.arguments))
        reader.expect(PROJECT)
        query = self.query(ToolRequest(call.project, call.project_id, reader, call.now))
        reader.done()
        return query

    def describe(self) -> dict[str, Any]:
        """Return the tool's definition, as `tools/list` has it."""
        arguments = (*self.arguments, Argument(PROJECT))
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": {each.name: each.describe() for each in arguments},
                "required": [each.name for each in arguments if each.is_required],
                "additionalProperties": False,
            },
            "annotations": {"readOnlyHint": True, "openWorldHint": False},
        }


def to_pairs(arguments: Arguments) -> Iterator[Pair]:
    """Return arguments as names and values of parameters. Raise BadParameter above MAX_PARAMETERS.

    An absent value and null are the same.
    """
    count = 0
    for name, value in arguments.items():
        members = value.items() if isinstance(value, dict) else [("", value)]
        for member, values in members:
            full = f"{name}.{member}" if member or isinstance(value, dict) else name
            for each in values if isinstance(values, list) else [values]:
                if each is None:
                    continue
                count += 1
                if count > MAX_PARAMETERS:
                    reason = f"a call may have {MAX_PARAMETERS} values"
                    raise BadParameter(full, reason)
                yield full, _to_text(full, each)


def _to_text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadParameter(name, "has to be a text or a number, or a list of them")
    is_whole = isinstance(value, int) or value.is_integer()
    return str(int(value) if is_whole else value)
