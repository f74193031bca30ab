"""Importer of the JSON file format of speedscope.app: sampled and evented profiles."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ingest.formats import json_document
from ingest.formats.import_options import NO_OPTIONS, ImportOptions, choose_metric, type_of_metrics
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.json_document import Object
from ingest.formats.pprof_builder import Frame, ProfileBuilder
from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import BadProfile
from profiles.engine.metrics import Metric, normalise_unit
from profiles.engine.pprof.limits import MAX_SAMPLE_TYPES
from projects.profile_types import ProfileType

MAX_PROFILES = 1000  # of one file; py-spy writes one for each thread
_OWN_EXPORTER = "flamewatch"  # whose files have a profile for each metric
Stack = tuple[int, ...]  # frames, root first


class Weighted(NamedTuple):
    stack: Stack
    weight: float


def import_speedscope(raw: bytes, options: ImportOptions = NO_OPTIONS) -> list[ImportedProfile]:
    """Convert the profiles of a file.

    Those with the same kind of unit are summed; their names become the label `thread`. In a
    file that Flamewatch wrote, the profiles are the metrics of one profile. Raise BadProfile for an
    invalid document, TooLarge above a limit.
    """
    budget = WorkBudget(len(raw))
    document = json_document.parse(raw, "speedscope", budget)
    profiles = json_document.objects(document, "profiles")
    if not profiles:
        raise BadProfile("The speedscope file has no profiles.")
    if len(profiles) > MAX_PROFILES:
        raise BadProfile(
            f"The speedscope file has {len(profiles):,} profiles, over {MAX_PROFILES}."
        )
    shared = document.get("shared")
    frames = json_document.objects(shared if isinstance(shared, dict) else {}, "frames")
    reader = _SpeedscopeReader([_parse_frame(each) for each in frames], budget)
    if json_document.text(document, "exporter") == _OWN_EXPORTER:
        return [reader.convert_metrics(profiles, options)]
    groups: dict[str, list[Object]] = {}
    for profile in profiles:
        groups.setdefault(normalise_unit(json_document.text(profile, "unit"))[0], []).append(
            profile
        )
    return [reader.convert_threads(unit, group, options) for unit, group in groups.items()]


class _SpeedscopeReader:
    """Converts profiles that share their frames."""

    def __init__(self, frames: Sequence[Frame], budget: WorkBudget) -> None:
        self._frames, self._budget = frames, budget

    def convert_metrics(
        self, profiles: Sequence[Object], options: ImportOptions
    ) -> ImportedProfile:
        """Convert profiles with one metric each to one profile.

        Raise `BadProfile` for too many metrics, or for two profiles of one metric.
        """
        named = [
            Metric(json_document.text(each, "name"), _own_unit(json_document.text(each, "unit")))
            for each in profiles
        ]
        if len(named) > MAX_SAMPLE_TYPES:
            raise BadProfile(
                f"The speedscope file has {len(named):,} metrics, over {MAX_SAMPLE_TYPES}."
            )
        if len(set(named)) < len(named):
            raise BadProfile("The speedscope file has two profiles of one metric.")
        type = options.type or type_of_metrics(named)
        builder = ProfileBuilder(named, self._budget)
        for number, profile in enumerate(profiles):
            for stack, weight in self._stacks(profile):
                values = [0] * len(named)
                values[number] = round(weight)
                self._add(builder, stack, values)
        return _build_profile(type, builder, ())

    def convert_threads(
        self, unit: str, profiles: Sequence[Object], options: ImportOptions
    ) -> ImportedProfile:
        """Convert profiles of one unit; several ones are those of threads."""
        type = options.type or type_of_metrics([("", unit)])
        stated = "" if unit in {"", "none"} else unit
        metric, _ = choose_metric(type, options.unit or stated)
        builder = ProfileBuilder([metric], self._budget)
        duration = 0
        warnings: list[str] = []
        for profile in profiles:
            own = json_document.text(profile, "unit")
            factor = normalise_unit(options.unit or own)[1]
            name = json_document.text(profile, "name")
            labels = {"thread": name} if name and len(profiles) > 1 else None
            total = 0
            for stack, weight in self._stacks(profile, warnings.append):
                value = round(weight * factor)
                total += value
                self._add(builder, stack, [value], labels)
            duration = max(duration, total)
        is_time = metric.unit == "nanoseconds"
        return _build_profile(
            type, builder, tuple(dict.fromkeys(warnings)), duration if is_time else 0
        )

    def _add(
        self,
        builder: ProfileBuilder,
        stack: Stack,
        values: Sequence[int],
        labels: Mapping[str, str] | None = None,
    ) -> None:
        if stack and any(values):
            self._budget.spend(Work.FRAMES, len(stack))
            locations = [builder.location(self._frames[number]) for number in reversed(stack)]
            builder.add(locations, values, labels)

    def _stacks(
        self, profile: Object, warn: Callable[[str], None] = lambda _: None
    ) -> Iterator[Weighted]:
        type = profile.get("type")
        if type == "sampled":
            return self._read_samples(profile)
        if type == "evented":
            return self._read_events(profile, warn)
        raise BadProfile(
            f"The speedscope type {json_document.quote_value(type)} is not sampled or evented."
        )

    def _read_samples(self, profile: Object) -> Iterator[Weighted]:
        samples = json_document.items(profile, "samples")
        weights = json_document.items(profile, "weights") or [1] * len(samples)
        if len(samples) != len(weights):
            raise BadProfile(f"{len(samples):,} samples have {len(weights):,} weights.")
        for sample, weight in zip(samples, weights, strict=True):
            if not isinstance(sample, list):
                raise BadProfile("A sample of the speedscope file is not a list of frames.")
            value = json_document.number(weight, "weights")
            if value < 0:
                raise BadProfile(f"A weight of the speedscope file is negative: {value}.")
            yield Weighted(tuple(self._require_frame(number) for number in sample), value)

    def _read_events(self, profile: Object, warn: Callable[[str], None]) -> Iterator[Weighted]:
        """Yield the time between two events with the frames that are open then."""
        stack: list[int] = []
        sums: dict[Stack, float] = {}
        last = json_document.number(profile.get("startValue", 0), "startValue")
        for event in json_document.objects(profile, "events"):
            time = json_document.number(event.get("at"), "at")
            if time > last and stack:
                self._budget.spend(Work.FRAMES, len(stack))
                key = tuple(stack)
                sums[key] = sums.get(key, 0) + time - last
            last = max(last, time)
            frame = self._require_frame(event.get("frame"))
            if event.get("type") == "O":
                stack.append(frame)
            elif stack and stack[-1] == frame:
                stack.pop()
            else:
                warn("Events that close a frame which is not the innermost were left out.")
        return (Weighted(stack, weight) for stack, weight in sums.items())

    def _require_frame(self, number: object) -> int:
        if not isinstance(number, int) or not 0 <= number < len(self._frames):
            raise BadProfile(
                f"The speedscope file uses the frame {json_document.quote_value(number)} of "
                f"{len(self._frames):,}."
            )
        return number


def _build_profile(
    type: ProfileType, builder: ProfileBuilder, warnings: tuple[str, ...], duration_ns: int = 0
) -> ImportedProfile:
    if builder.is_empty:
        raise BadProfile("The speedscope file has no samples.")
    return ImportedProfile(type, builder.build(), None, duration_ns or None, warnings)


def _parse_frame(fields: Object) -> Frame:
    return Frame(
        json_document.text(fields, "name") or "[unknown]",
        json_document.text(fields, "file"),
        json_document.read_line(fields.get("line")),
    )


def _own_unit(unit: str) -> str:
    return "count" if unit == "none" else unit
