"""Labels of Pyroscope's clients as a deployment and profile labels."""

from collections.abc import Mapping
from dataclasses import replace

from endpoints.errors import BadField
from ingest.formats.pyroscope.counts import split_name
from ingest.formats.pyroscope.pprof import Conversion
from ingest.imports.labels import LabelRules, MappedLabels, map_labels

# Names of Pyroscope's profilers (the parameter spyName) and of runtimes, for one language each.
_LANGUAGES: Mapping[str, str] = {
    "cpython": "python",
    "pypy": "python",
    "nodejs": "nodejs",
    "go": "go",
    "gospy": "go",
    "nodespy": "nodejs",
    "pyspy": "python",
    "pyroscope-python": "python",
    "javaspy": "java",
    "rbspy": "ruby",
    "dotnetspy": "dotnet",
    "phpspy": "php",
    "pyroscope-rs": "rust",
}
_SPY = "pyroscope_spy"
# Labels about the client, the same in every profile.
_IGNORED = ("otel.scope.*", "pyroscope_*", "app_name")


def map_pyroscope_labels(
    labels: Mapping[str, str], conversion: Conversion, app_name: str = "", spy_name: str = ""
) -> MappedLabels:
    """Map the labels of an upload.

    `app_name` is the service unless a label names one. Labels of all samples count only as parts
    of the deployment and as instance. Raise BadField if nothing names a service.
    """
    rules = LabelRules.from_settings()
    rules = replace(rules, ignored=[*rules.ignored, *_IGNORED])
    of_program = (*rules.service, *rules.version, *rules.zone, *rules.language, *rules.instance)
    found = {name: text for name, text in conversion.sample_labels.items() if name in of_program}
    found |= labels
    if conversion.contention:  # mutex and block profiles have the same type
        found["contention"] = conversion.contention
    language = _language(labels, spy_name)
    if language and rules.language and not any(found.get(name) for name in rules.language):
        found[rules.language[0]] = language
    default = app_name or labels.get("app_name", "")
    mapped = map_labels(found, rules, split_name(default).service)
    if mapped is None:
        names = ", ".join(rules.service)
        raise BadField(
            "labels", f"name no service; send one of {names} (FLAMEWATCH_SERVICE_LABELS)"
        )
    return mapped


def _language(labels: Mapping[str, str], spy_name: str) -> str:
    names = (spy_name, labels.get(_SPY, ""), labels.get("process.runtime.name", "").lower())
    return next((_LANGUAGES[name] for name in names if name in _LANGUAGES), "")
