"""JSON files of profilers: parsing, and checked access to their fields."""

from typing import Any

import orjson

from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import BadProfile, TooLarge

MAX_JSON_BYTES = 16 * 2**20
# Memory that orjson needs while it parses: for each byte (12 for its own document, and the texts
# themselves, of four bytes a character if they are not ASCII), and for the values behind each
# delimiter. Real profiles need 80 to 95 % of the estimate.
_BYTES_OF_ASCII, _BYTES_OF_UNICODE = 13, 17
_BYTES_OF_DELIMITERS = {b",": 36, b"{": 170, b"[": 80, b'"': 12, b":": 20}
Object = dict[str, Any]


def parse(raw: bytes, form: str, budget: WorkBudget) -> Object:
    """Return the JSON object of a file; `form` names the format in errors.

    Raise BadProfile for other JSON, TooLarge above MAX_JSON_BYTES and the budget.
    """
    if len(raw) > MAX_JSON_BYTES:
        raise TooLarge("A JSON file to convert", len(raw), MAX_JSON_BYTES, "bytes")
    spend_json(raw, budget)
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise BadProfile(f"The {form} file is not valid JSON: {error}.") from None
    if not isinstance(document, dict):
        raise BadProfile(f"The {form} file is not a JSON object.")
    return document


def spend_json(raw: bytes, budget: WorkBudget) -> None:
    """Charge the memory of a document, estimated by its delimiters, before it is parsed.

    Raise TooLarge above the budget.
    """
    values = sum(raw.count(each) * size for each, size in _BYTES_OF_DELIMITERS.items())
    each_byte = _BYTES_OF_ASCII if raw.isascii() else _BYTES_OF_UNICODE
    budget.spend(Work.JSON_BYTES, each_byte * len(raw) + values)


def objects(parent: Object, name: str) -> list[Object]:
    """Return a list of objects. Raise BadProfile for another value; a missing one is empty."""
    found = items(parent, name)
    if not all(isinstance(each, dict) for each in found):
        raise BadProfile(f"{name} has items that are no objects.")
    return found


def items(parent: Object, name: str) -> list[Any]:
    """Return a list. Raise BadProfile for another value; a missing one is empty."""
    found = parent.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise BadProfile(f"{name} is not a list.")
    return found


def text(parent: Object, name: str) -> str:
    """Return a string; "" if it is missing or another value."""
    found = parent.get(name)
    return found if isinstance(found, str) else ""


def number(value: object, name: str, most: float = 2**62) -> float:
    """Return a number from -most to most. Raise BadProfile for another value."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not -most <= value <= most:  # type: ignore[operator]
        raise BadProfile(f"{name} has the value {quote_value(value)}, which is no usable number.")
    return value  # type: ignore[return-value]


def read_line(value: object) -> int:
    """Return a line number; 0 for anything else."""
    return value if isinstance(value, int) and 0 < value < 2**31 else 0


def quote_value(value: object) -> str:
    """Return a value for an error message; lists and objects, which may be deep, as their kind."""
    return "a list or object" if isinstance(value, list | dict) else str(value)[:40]
