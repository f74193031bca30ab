"""Converted requests of OTLP, as the decoder of pprof reads them."""

from collections.abc import Mapping
from dataclasses import dataclass

from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.otlp.conversion import Converter, Rejection, group_profiles
from ingest.formats.otlp.json_encoding import from_json
from ingest.formats.otlp.request import ExportRequest, read_request
from profiles.engine.pprof.decode import DecodedProfile, decode_profile
from profiles.engine.pprof.limits import DecodeLimits
from tests.paths import SAMPLES

FOLDER = SAMPLES / "otlp"
LIMITS = DecodeLimits()


@dataclass(frozen=True)
class GroupConversion:
    """Stored profile of a request, with what it was made from."""

    attributes: dict[str, str]
    imported: ImportedProfile
    profiles: int  # of OTLP

    @property
    def decoded(self) -> DecodedProfile:
        return decode_profile(self.imported.pprof, self.imported.type, LIMITS)

    @property
    def totals(self) -> dict[str, int]:
        """Return the total of each metric, by its name and unit."""
        decoded = self.decoded
        return {
            f"{metric.name}/{metric.unit}": total
            for metric, total in zip(decoded.tree.metrics, decoded.totals, strict=True)
        }

    @property
    def labels(self) -> list[dict[str, str]]:
        """Return the labels of each set of them, with the unit of numbers after the value."""
        labelled = self.decoded.tree.labelled
        return [
            {label.key: f"{label.value} {label.unit or ''}".strip() for label in labels}
            for labels in (labelled.label_sets if labelled else ())
            if labels
        ]

    @property
    def stacks(self) -> dict[str, int]:
        """Return the totals of the last metric, by stack from the root on."""
        tree = self.decoded.tree
        names: list[str] = []
        found: dict[str, int] = {}
        for node, parent in enumerate(tree.parent.tolist()):
            name = tree.frames.strings[tree.frames.name[tree.frame[node]]]
            names.append(f"{names[parent]};{name}" if parent >= 0 else name)
        for node, value in enumerate(tree.self[-1].tolist()):
            if value:
                found[names[node]] = value
        return found


@dataclass(frozen=True)
class Converted:
    request: ExportRequest
    profiles: list[GroupConversion]
    rejections: list[Rejection]
    trace_links: int


def sample(name: str) -> bytes:
    """Return a message of tests/samples/otlp."""
    return (FOLDER / name).read_bytes()


def convert(body: bytes, limits: DecodeLimits = LIMITS) -> Converted:
    """Convert a request; equal attributes of resources are one deployment."""
    revision = None
    if body.startswith(b"{"):
        body, revision = from_json(body)
    request = read_request(body, limits, revision)
    grouped = group_profiles(request, _owner)
    converter = Converter(request, limits)
    profiles = [
        GroupConversion(dict(group.owner), converter.convert(group), group.profiles)
        for group in grouped.groups
    ]
    return Converted(request, profiles, grouped.rejections, converter.trace_links)


def _owner(attributes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(attributes.items()))
