"""Fields of a page's parameters, each declared once: URL parameter, text, default and dependencies.

The dataclass of a page has a field for each of its URL parameters:

    @dataclass(frozen=True, slots=True)
    class ChartQuery:
        step: timedelta | None = url_parameter(STEP, format=span_text, depends_on=("span", "end"))

`read_parameters` makes it from a URL, `format_parameters` writes the URL back, in the order of the
fields. A change of a parameter in the URL drops those that depend on it (view_address.py).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from endpoints.params import parameter
from endpoints.params.parameter import Family, Parameter, Repeated
from endpoints.params.reader import LenientReader

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Declaration = Parameter[Any, Any] | Repeated[Any] | Family
Pair = tuple[str, str]  # name and value of a URL parameter
D = TypeVar("D", bound="DataclassInstance")

_METADATA = "url_parameter"
_dependents: dict[str, dict[str, None]] = {}


@dataclass(frozen=True, slots=True)
class UrlParameter:
    declaration: Declaration
    default: Any  # value of the field without the parameter
    format: Callable[[Any], str]
    is_always_written: bool
    is_display_only: bool

    @property
    def name(self) -> str:
        """Return the parameter's name; the prefix of a family."""
        declaration = self.declaration
        return declaration.prefix if isinstance(declaration, Family) else declaration.name

    def read(self, reader: LenientReader) -> Any:
        match self.declaration:
            case Family() as family:
                return tuple(
                    (name, tuple(dict.fromkeys(values)))
                    for name, values in reader.family(family).items()
                )
            case Repeated() as repeated:
                return tuple(dict.fromkeys(reader.several(repeated)))
            case Parameter() as single:
                value = reader.read(single)
                return self.default if value == single.default else value

    def pairs(self, value: Any) -> Iterator[Pair]:
        match self.declaration:
            case Family(prefix=prefix):
                for name, values in value:
                    yield from ((prefix + name, self.format(each)) for each in values)
            case Repeated(name=name):
                yield from ((name, self.format(each)) for each in value)
            case Parameter(name=name):
                yield name, self.format(value)


def url_parameter(
    declaration: Declaration,
    *,
    default: Any = None,
    format: Callable[[Any], str] = str,
    depends_on: Iterable[str] = (),
    is_always_written: bool = False,
    is_display_only: bool = False,
) -> Any:
    """Declare a field of a frozen dataclass for a URL parameter.

    `format` writes one value so that the declaration parses it alike. `depends_on` names the
    parameters whose change drops this one. A parameter that is for display only does not change
    the result of the page's query. The default is the declaration's unless it is given.
    """
    if default is None:
        default = declaration.default if isinstance(declaration, Parameter) else ()
    declared = UrlParameter(declaration, default, format, is_always_written, is_display_only)
    declare_dependents([declared.name], depends_on)
    return field(default=default, metadata={_METADATA: declared})


def url_flag(name: str, meaning: str, word: str = "1", **options: Any) -> Any:
    """Declare a field that is true if the URL has this word for the parameter."""
    return url_parameter(parameter.flag(name, meaning, word), format=lambda _: word, **options)


@cache
def url_parameters(cls: type["DataclassInstance"]) -> dict[str, UrlParameter]:
    """Return the URL parameters of a dataclass by the names of their fields."""
    return {
        each.name: each.metadata[_METADATA] for each in fields(cls) if _METADATA in each.metadata
    }


def read_parameters(cls: type[D], reader: LenientReader, **values: Any) -> D:
    """Read a page's parameters; `values` are fields that the caller has read itself.

    The reader collects the invalid ones, which have their default.
    """
    for name, each in url_parameters(cls).items():
        if name not in values:
            values[name] = each.read(reader)
    return cls(**values)


def format_parameters(query: "DataclassInstance") -> list[Pair]:
    """Return the URL parameters that differ from their default, in the order of the fields."""
    pairs: list[Pair] = []
    for name, each in url_parameters(type(query)).items():
        value = getattr(query, name)
        if value != each.default or each.is_always_written:
            pairs += [pair for pair in each.pairs(value) if pair[1]]
    return pairs


def reset_display_parameters(query: D) -> D:
    """Return the parameters of a page's query alone; those for display have their default."""
    parameters = url_parameters(type(query)).items()
    return replace(
        query, **{name: each.default for name, each in parameters if each.is_display_only}
    )


def declare_dependents(names: Iterable[str], sources: Iterable[str]) -> None:
    """Declare that a change of one of the sources drops the named parameters from a URL."""
    for source in sources:
        _dependents.setdefault(source, {}).update(dict.fromkeys(names))


def dependents() -> dict[str, list[str]]:
    """Return the dependents of each parameter, of the pages whose modules are imported."""
    return {source: [*names] for source, names in _dependents.items()}


def get_dependents(source: str) -> Iterable[str]:
    return _dependents.get(source, ())
