"""Parameters that a query resource reads, recorded while it parses a request."""

from collections.abc import Iterable
from typing import Any, TypeVar

from endpoints.params.parameter import Family, Parameter, Repeated
from endpoints.params.reader import StrictReader

T = TypeVar("T")
Declared = Parameter[Any, Any] | Repeated[Any] | Family


class ParameterRecorder(StrictReader):
    """Reader that keeps every declaration by its full name, in the order of reads."""

    def __init__(
        self,
        pairs: Iterable[tuple[str, str]],
        prefix: str = "",
        declared: dict[str, Declared] | None = None,
    ) -> None:
        self._prefix = prefix
        self.declared: dict[str, Declared] = {} if declared is None else declared
        self.required: set[str] = set()
        super().__init__(pairs, prefix)

    def expect(self, *parameters: Parameter[Any, Any] | Repeated[Any]) -> None:
        super().expect(*parameters)
        for each in parameters:
            self.declared.setdefault(f"{self._prefix}{each.name}", each)

    def read_required(self, parameter: Parameter[T, Any]) -> T:
        self.required.add(parameter.name)
        return super().read_required(parameter)

    def family(self, family: Family) -> dict[str, tuple[str, ...]]:
        self.declared.setdefault(f"{self._prefix}{family.prefix}NAME", family)
        return super().family(family)

    def side(self, prefix: str) -> "ParameterRecorder":
        super().side(prefix)
        return ParameterRecorder((), f"{self._prefix}{prefix}", self.declared)
