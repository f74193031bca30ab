"""Metadata of a JFR chunk: the types of its events and constants, with their fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ingest.formats.jfr.fields import ArrayOf, Field, FieldEncoding, read_string, read_varint
from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import BadProfile

MAX_DEPTH = 20  # levels of elements, and of types within types; the JDK has five
MAX_FIELDS = 1000  # of one type, with those of the types and arrays within it
_PRIMITIVES = {
    **dict.fromkeys(("char", "short", "int", "long"), FieldEncoding.VARINT),
    **dict.fromkeys(("boolean", "byte"), FieldEncoding.BYTE),
    "float": FieldEncoding.FLOAT,
    "double": FieldEncoding.DOUBLE,
    "java.lang.String": FieldEncoding.STRING,
}


class Element(NamedTuple):
    name: str
    attributes: dict[str, str]
    children: "list[Element]"


@dataclass(frozen=True, slots=True)
class Layout:
    """Fields of a type in the order of their encoding; types within it are flattened."""

    fields: tuple[Field, ...]
    index: Mapping[str, int]  # of each named field, or of the first one of a type within
    size: int  # number of types and fields, those within arrays included


class Metadata:
    """Types by their id and name."""

    def __init__(self, event: bytes, budget: WorkBudget) -> None:
        """Parse a metadata event. Raise BadProfile or IndexError if it is damaged."""
        budget.spend(Work.VALUES, len(event))
        self._budget = budget
        root = _read_event(event, budget)
        self._classes: dict[int, Element] = {}
        for group in root.children:
            if group.name == "metadata":
                for each in group.children:
                    if each.name == "class":
                        self._classes[_number(each.attributes.get("id", ""))] = each
        self.ids = {each.attributes.get("name", ""): id for id, each in self._classes.items()}
        self._layouts: dict[int, Layout] = {}
        self._open: set[int] = set()  # types that are being flattened, each within another

    def name(self, id: int) -> str:
        """Return the name of a type; "" for an unknown one."""
        found = self._classes.get(id)
        return found.attributes.get("name", "") if found else ""

    def layout(self, id: int) -> Layout:
        """Return the fields of a type. Raise BadProfile if it is unknown or too deeply nested."""
        found = self._layouts.get(id)
        if found is None:
            if id in self._open or len(self._open) > MAX_DEPTH:
                raise BadProfile("The types of the recording are nested too deeply.")
            self._open.add(id)
            found = self._layouts[id] = self._flatten(id)
            self._open.remove(id)
            self._budget.spend(Work.VALUES, found.size)
        return found

    def _flatten(self, id: int) -> Layout:
        declared = self._classes.get(id)
        if declared is None:
            raise BadProfile(f"The recording uses the type {id}, which its metadata lack.")
        if (primitive := _PRIMITIVES.get(declared.attributes.get("name", ""))) is not None:
            return Layout((primitive,), {}, 1)
        fields: list[Field] = []
        index = {}
        size = 1
        for each in declared.children:
            if each.name == "field":
                index[each.attributes.get("name", "")] = len(fields)
                own = self._field(each.attributes)
                fields += own.fields
                size += own.size
                if size > MAX_FIELDS:
                    raise BadProfile(f"A type of the recording has over {MAX_FIELDS} fields.")
        return Layout(tuple(fields), index, size)

    def _field(self, attributes: Mapping[str, str]) -> Layout:
        own = Layout((FieldEncoding.VARINT,), {}, 1)
        if attributes.get("constantPool") != "true":
            own = self.layout(_number(attributes.get("class", "")))
        is_array = attributes.get("dimension", "0") not in {"", "0"}
        return Layout((ArrayOf(own.fields),), {}, own.size) if is_array else own


def _read_event(event: bytes, budget: WorkBudget) -> Element:
    offset = 0
    for _ in range(5):  # size, type, start, duration, metadata id
        _, offset = read_varint(event, offset)
    count, offset = read_varint(event, offset)
    if count > len(event):
        raise IndexError
    strings = []
    for _ in range(count):
        text, offset = read_string(event, offset, budget)
        strings.append(str(text))
    return _read_element(event, offset, strings, 0)[0]


def _read_element(event: bytes, offset: int, strings: list[str], depth: int) -> tuple[Element, int]:
    if depth > MAX_DEPTH:
        raise BadProfile("The metadata of the recording are nested too deeply.")
    name, offset = read_varint(event, offset)
    count, offset = read_varint(event, offset)
    attributes = {}
    for _ in range(count):
        key, offset = read_varint(event, offset)
        value, offset = read_varint(event, offset)
        attributes[strings[key]] = strings[value]
    count, offset = read_varint(event, offset)
    children = []
    for _ in range(count):
        child, offset = _read_element(event, offset, strings, depth + 1)
        children.append(child)
    return Element(strings[name], attributes, children), offset


def _number(text: str) -> int:
    """Return the id of a type; -1, which no type has, for a text that is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1
