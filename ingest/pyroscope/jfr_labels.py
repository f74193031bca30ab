"""Labels that Pyroscope's Java agent sends beside a JFR recording.

The message LabelsSnapshot has `map<int64, Context> contexts = 1` and `map<int64, string>
strings = 2`; a Context has `map<int64, int64> labels = 1`, numbers of names and values in
`strings`. Events of the recording refer to contexts by their `contextId`.
"""

from collections.abc import Mapping

from ingest.pyroscope.protobuf import MessageReader, text

_CONTEXTS, _STRINGS, _LABELS = 1, 2, 1
_KEY, _VALUE = 1, 2


def read_jfr_labels(snapshot: bytes) -> dict[int, dict[str, str]]:
    """Return the labels of each context by its id; raise BadRequest for malformed bytes."""
    reader = MessageReader()
    contexts: dict[int, dict[int, int]] = {}
    strings: dict[int, str] = {}
    for number, entry in reader.fields(memoryview(snapshot)):
        if isinstance(entry, int):
            continue
        key, value = _entry(reader, entry)
        if number == _STRINGS and isinstance(value, memoryview):
            strings[key] = text(value)
        elif number == _CONTEXTS and isinstance(value, memoryview):
            contexts[key] = _labels(reader, value)
    return {context: _resolve_names(labels, strings) for context, labels in contexts.items()}


def _labels(reader: MessageReader, context: memoryview) -> dict[int, int]:
    labels: dict[int, int] = {}
    for entry in reader.messages(context, _LABELS):
        key, value = _entry(reader, entry)
        labels[key] = value if isinstance(value, int) else 0
    return labels


def _entry(reader: MessageReader, entry: memoryview) -> tuple[int, int | memoryview]:
    """Return the key and value of an entry of a map; the default of both is 0."""
    found: dict[int, int | memoryview] = {_KEY: 0, _VALUE: 0}
    found |= dict(reader.fields(entry))
    key = found[_KEY]
    return (key if isinstance(key, int) else 0), found[_VALUE]


def _resolve_names(labels: Mapping[int, int], strings: Mapping[int, str]) -> dict[str, str]:
    """Return the labels whose name and value are both in the table of strings."""
    return {
        strings[name]: strings[value]
        for name, value in labels.items()
        if name in strings and value in strings
    }
