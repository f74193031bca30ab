"""Selection (what a query reads) and View (how to show it)."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, TypeAlias

from profiles.engine.metrics import Metric
from profiles.queries.result_codec import encodable
from projects.profile_types import ProfileType


class InvalidQuery(Exception):
    """Query without a result for the stored profiles; the text gives the reason."""


class MetricNotFound(InvalidQuery):
    """Metric of the view that the selected profiles do not have."""


@encodable
class FilterOption(StrEnum):
    """Effect of a filter on matching frames; the values appear in URLs."""

    SHOW = "show"
    HIDE = "hide"
    FROM = "from"
    HIDE_FRAMES = "hideframes"
    HIGHLIGHT = "highlight"


@encodable
class Group(StrEnum):
    FUNCTION = "function"
    LINE = "line"


@encodable
class Shape(StrEnum):
    """Direction of a call tree; the values are those of the URL parameter `view`."""

    TOP_DOWN = "flame"  # callees below their callers
    BOTTOM_UP = "bottomup"  # roots are the functions with self values, callers are below them


@encodable
class Order(StrEnum):
    VALUE = "weight"  # the greatest value first
    NAME = "name"


class ProfileOrder(StrEnum):
    """Order of single profiles; among equal ones the newer profile comes first."""

    NEWEST = "newest"
    HEAVIEST = "heaviest"


@encodable
@dataclass(frozen=True, slots=True)
class ProfileSelection:
    """Filter for profiles of one project, service and type with start <= time < end."""

    project: int  # projects.models.Project.pk
    service: str
    type: ProfileType
    start: datetime
    end: datetime
    # Allowed values; empty: all. "" among them allows profiles without a zone, version or label.
    zones: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()  # (name, allowed values)
    top_percent: float | None = None  # the top n % by profile total; None: all
    total_range: tuple[int, int] | None = None  # least and greatest profile total, both inclusive
    profile: str = ""  # Profile.name_id, to select a single profile
    # (name, allowed values) of sample labels: only these samples of the profiles count, with ""
    # also those without the label
    samples: tuple[tuple[str, tuple[str, ...]], ...] = ()


@encodable
@dataclass(frozen=True, slots=True)
class SavedTree:
    """Stored result of a query, which may have outlived its profiles.

    Everything but `project` and `id` describes it; a query reads the whole tree.
    """

    project: int  # projects.models.Project.pk
    id: str  # ResultSnapshot.snapshot_id
    service: str  # under which it is shown
    type: ProfileType
    start: datetime
    end: datetime
    samples: ClassVar[tuple[tuple[str, tuple[str, ...]], ...]] = ()  # all samples count


Selection: TypeAlias = ProfileSelection | SavedTree


@encodable
class GroupKind(StrEnum):
    """Label to group by; the values are those of the URL parameters that select one value."""

    VERSION = "version"
    ZONE = "zone"
    LABEL = "label"  # of whole profiles
    SAMPLE = "sample"  # label of samples


@encodable
@dataclass(frozen=True, slots=True)
class Grouping:
    """Label by whose values a query groups; `name` is that of a profile or sample label."""

    kind: GroupKind
    name: str = ""

    @property
    def parameter(self) -> str:
        """Return the URL parameter that selects one of the values: `version`, `label.NAME`."""
        return f"{self.kind}.{self.name}" if self.name else str(self.kind)

    @property
    def label(self) -> str:
        """Return the name of the label: `zone` and `version` are labels of profiles, too."""
        return self.name or str(self.kind)


@encodable
@dataclass(frozen=True, slots=True)
class ViewFilter:
    """Filter of a view on the frames that `value` matches by function or file."""

    option: FilterOption
    value: str  # a substring, or a regular expression between slashes


@encodable
@dataclass(frozen=True, slots=True)
class View:
    """Metric, filters and shape in which the selected profiles are shown."""

    metric: Metric | None = None  # None: the type's default
    filters: tuple[ViewFilter, ...] = ()
    shape: Shape = Shape.TOP_DOWN
    focus: str | None = None  # full name of a function: show its callers and callees only
    group: Group = Group.FUNCTION
    root: int | None = None  # id of a node: show this node and its descendants only
    order: Order = Order.VALUE
    max_nodes: int = 250_000
    split: Grouping | None = None  # label whose values become roots of the tree
