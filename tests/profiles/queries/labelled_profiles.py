"""Two days of profiles with labels of profiles and samples, as they were sent."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from profiles.query import Grouping, GroupKind, ProfileSelection
from projects.models import Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.pprofs import labelled_pprof

DAY = timedelta(days=1)
MICROSECOND = 1000  # ns
VERSION, ZONE = Grouping(GroupKind.VERSION), Grouping(GroupKind.ZONE)
INSTANCE = Grouping(GroupKind.LABEL, "instance")
ENDPOINT = Grouping(GroupKind.SAMPLE, "endpoint")


@dataclass(frozen=True)
class LabelledProfile:
    """Profile as it was sent; `stacks` has the count of each (stack, endpoint)."""

    time: datetime
    version: str
    zone: str
    labels: dict[str, str]
    stacks: dict[tuple[str, str], int]


def fill(project: Project) -> list[LabelledProfile]:
    """Store two days of profiles with labels of profiles and samples."""
    chance = random.Random(7)
    sent = []
    for number in range(90):
        version, zone = chance.choice(["1", "2", ""]), chance.choice(["eu", "us"])
        stacks = {
            (stack, endpoint): chance.randrange(1, 50)
            for stack in ("main;a", "main;b;c", "main")
            for endpoint in chance.sample(["/pay", "/list", "/user", ""], 2)
        }
        minutes = number * 32 // 3 * 3
        labels = {"instance": chance.choice("xyz")} if number % 5 else {}
        of = rows.deployment(project, version=version, zone=zone)
        rows.stored_raw(
            of, labelled_pprof(stacks), minutes=minutes, labels=labels, name_id=f"p{number:03}"
        )
        at = rows.NOON + minutes * timedelta(minutes=1)
        sent.append(LabelledProfile(at, version, zone, labels, stacks))
    return sent


def whole(project: Project) -> ProfileSelection:
    """Return the selection of all profiles."""
    return ProfileSelection(
        project.pk, "shop", ProfileType.CPU, rows.NOON - DAY, rows.NOON + 3 * DAY
    )


def cut(project: Project) -> ProfileSelection:
    """Return a selection that begins and ends within an hour, and within a day."""
    start, end = timedelta(minutes=37), timedelta(hours=13, minutes=11)
    return replace(whole(project), start=rows.NOON + start, end=rows.NOON + end)


KeyOf = Callable[[LabelledProfile, str], str | None]
# Value of each label, from a profile and the endpoint of one of its samples.
KEYS: dict[Grouping | None, KeyOf] = {
    VERSION: lambda sent, _: sent.version or None,
    ZONE: lambda sent, _: sent.zone,
    INSTANCE: lambda sent, _: sent.labels.get("instance"),
    ENDPOINT: lambda _, endpoint: endpoint or None,
    None: lambda *_: None,
}
