"""Display names of profile types, metrics, labels, functions and agents."""

import re
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from profiles.query import Grouping, GroupKind, Metric
from projects.models import Agent
from projects.profile_types import ProfileType

_TYPES: dict[ProfileType, Promise] = {
    ProfileType.CPU: _("CPU time"),
    ProfileType.WALL: _("Wall time"),
    ProfileType.HEAP: _("Heap"),
    ProfileType.HEAP_ALLOC: _("Allocated heap"),
    ProfileType.CONTENTION: _("Contention"),
    ProfileType.THREADS: _("Threads"),
    ProfileType.PEAK_HEAP: _("Peak heap"),
}

_WORDS: dict[ProfileType, Promise] = {
    ProfileType.CPU: _("On-CPU time; excludes waiting."),
    ProfileType.WALL: _("Elapsed time in each function, including waiting."),
    ProfileType.HEAP: _("Memory in use at the time of capture, by allocating function."),
    ProfileType.HEAP_ALLOC: _("Memory allocated during the capture, including memory freed since."),
    ProfileType.CONTENTION: _("Time that threads waited for locks."),
    ProfileType.THREADS: _("Number of threads by stack."),
    ProfileType.PEAK_HEAP: _("Peak memory in use, by allocating function."),
}

_METRICS: dict[str, Promise] = {
    "cpu": _("CPU time"),
    "wall": _("Wall time"),
    "samples": _("Samples"),
    "sample": _("Samples"),
    "inuse_space": _("In-use size"),
    "inuse_objects": _("In-use objects"),
    "alloc_space": _("Allocated size"),
    "alloc_objects": _("Allocated objects"),
    "delay": _("Delay"),
    "contentions": _("Contentions"),
    "thread": _("Threads"),
    "threads": _("Threads"),
    "goroutine": _("Goroutines"),
}

NOT_SET = _("(not set)")  # value of profiles or samples without a label

# The leaf of a name: in Go what follows the package, otherwise the method with its class.
_GO = re.compile(r"^(?P<front>.*/[^/.]*\.)(?P<leaf>.+)$")
_DOTTED = re.compile(r"^(?P<front>(?:.*?(?:\.|::))??)(?P<leaf>(?:[A-Z_]\w*(?:\.|::))?[^.:]+)$")


@dataclass(frozen=True, slots=True)
class SplitName:
    front: str  # package or module prefix, truncated first when space is short; may be empty
    leaf: str


def type_name(type_: ProfileType) -> str:
    return str(_TYPES[type_])


def type_words(type_: ProfileType) -> str:
    """Return a one-line description of the values that this profile type measures."""
    return str(_WORDS[type_])


def metric_name(metric: Metric) -> str:
    name = _METRICS.get(metric.name)
    return str(name) if name else metric.name.replace("_", " ")


def label_name(label: Grouping) -> str:
    if label.kind is GroupKind.VERSION:
        return gettext("Version")
    return gettext("Zone") if label.kind is GroupKind.ZONE else label.name


def label_word(label: Grouping) -> str:
    """Return the label's name as it is written within a sentence."""
    if label.kind is GroupKind.VERSION:
        return gettext("version")
    return gettext("zone") if label.kind is GroupKind.ZONE else label.name


def split_name(name: str) -> SplitName:
    """Split a function name into a prefix that may be truncated and a leaf that stays whole.

    `shop.pricing.Rule.matches` → `shop.pricing.` and `Rule.matches`.
    """
    found = _GO.match(name) or (_DOTTED.match(name) if "(" not in name else None)
    return SplitName(found["front"], found["leaf"]) if found else SplitName("", name)


def agent_name(agent: Agent) -> str:
    """Return the agent's host name, or the first eight characters of its identity."""
    return agent.hostname or agent.identity[:8]
