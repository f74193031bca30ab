"""Application names with labels: `name{label=value,…}`, the parameter `name` of /ingest."""

from typing import NamedTuple

from endpoints.errors import BadField


class AppName(NamedTuple):
    name: str
    labels: dict[str, str]


def read_app_name(text: str) -> AppName:
    """Parse an application name.

    Values are not quoted: they extend to the next comma or brace, and may contain anything else.
    Text after the closing brace is ignored. Raise BadField if there is no name, or a label without
    `=`.
    """
    name, _, rest = text.partition("{")
    if not name.strip():
        raise BadField("name", "is missing: the name of the application, like shop{region=eu}")
    labels: dict[str, str] = {}
    for pair in rest.partition("}")[0].split(","):
        label, equals, value = pair.partition("=")
        if label.strip() and not equals:
            raise BadField(
                "name", f"the label {label.strip()[:80]!r} has no value: write label=value"
            )
        if label.strip():
            labels[label.strip()] = value.strip()
    return AppName(name.strip(), labels)
