"""Query parameters of an import of a file."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from endpoints import credentials
from endpoints.params import parameter, reader, values
from endpoints.params.parameter import Family, Parameter
from endpoints.params.reader import BadParameter, StrictReader
from endpoints.params.selection import SERVICE, TYPE
from ingest.cloud_profiler.wire import parse_profile_labels
from ingest.formats.detect import FileFormat
from ingest.formats.import_options import UNITS, ImportOptions
from ingest.imports.labels import label_value, service_name
from projects.registration.registry import DeploymentKey

_LANGUAGE = parameter.text("language", "Programming language of the service")
_VERSION = parameter.text("version", "Version of the service")
_ZONE = parameter.text("zone", "Zone in which the service ran")
_FORMAT = Parameter(
    "format",
    "Format of the file, if its content does not show it",
    lambda text: FileFormat(values.choice(text, tuple(each.value for each in FileFormat))),
    None,
)
_UNIT = Parameter("unit", "Unit of the values", lambda text: values.choice(text, UNITS), "")
_SNAPSHOT = parameter.text(
    "snapshot", "Title of a snapshot to store instead of profiles of a service", 200
)
_TIME = Parameter("time", "Start, for files that state none", values.time, None)
_DURATION = Parameter("duration", "Duration, for files that state none", values.span, None)
_LABEL = Family(
    "label.",
    "Label of the profiles",
    values.short,
    values.cut,
    unnamed="has no name of a label behind its point",
    most_used=10,
)


@dataclass(frozen=True, slots=True)
class ImportParams:
    """Deployment and labels of a file's profiles, and what the file may lack."""

    deployment: DeploymentKey
    labels: dict[str, str]
    options: ImportOptions
    format: FileFormat | None
    time: datetime | None
    duration: timedelta | None
    snapshot: str = ""  # title; the file then is of no service


def read(query: str) -> ImportParams:
    """Parse a query string. Raise BadParameter or BadField for an invalid or unknown parameter."""
    found = reader.parse(query)
    found.expect(credentials.KEY)
    snapshot = found.read(_SNAPSHOT).strip()
    params = ImportParams(
        deployment=DeploymentKey(
            service="" if snapshot else _service(found),
            zone=_read_value(found, _ZONE),
            version=_read_value(found, _VERSION),
            language=_read_value(found, _LANGUAGE),
        ),
        labels=_labels(found),
        options=ImportOptions(found.read(TYPE), found.read(_UNIT)),
        format=found.read(_FORMAT),
        time=found.read(_TIME),
        duration=found.read(_DURATION),
        snapshot=snapshot,
    )
    found.done()
    return params


def _service(found: StrictReader) -> str:
    text = found.read_required(SERVICE)
    valid = service_name(text)
    if text != valid:
        similar = f"; use {valid}" if valid else ""
        raise BadParameter(
            SERVICE.name,
            f"{text[:60]!r} is no name of a service: lower-case letters, digits, - _ and ., with a "
            f"letter or digit at both ends{similar}",
        )
    return text


def _read_value(reader: StrictReader, parameter: Parameter[str, str]) -> str:
    text = reader.read(parameter)
    if text != label_value(text):
        raise BadParameter(parameter.name, "has a control character, or more than 512 bytes")
    return text


def _labels(found: StrictReader) -> dict[str, str]:
    labels: dict[str, str] = {}
    for name, texts in found.family(_LABEL).items():
        if len(texts) > 1:
            raise BadParameter(
                f"label.{name}", f"is given {len(texts)} times; it may be given once"
            )
        labels |= dict.fromkeys([name], texts[0]) if texts else {}
    return parse_profile_labels({"labels": labels}, "label")
