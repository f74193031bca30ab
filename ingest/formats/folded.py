"""Importer of folded stacks: lines of `root;…;leaf 42`.

stackcollapse scripts, async-profiler, py-spy (raw) and others write them. Frames may have
annotations (`_[k]` for the kernel) or a file and a line (`main (app.py:12)`).
"""

import re

from ingest.formats.import_options import NO_OPTIONS, ImportOptions, choose_metric
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.jfr.names import stable
from ingest.formats.pprof_builder import Frame, ProfileBuilder
from ingest.formats.text_lines import UnreadableLines, number_lines
from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import BadProfile
from projects.profile_types import ProfileType

KERNEL = "[kernel]"
MAX_VALUE = 2**62  # of one line
_LINE = re.compile(r"(?P<stack>.*\S)\s+(?P<value>\d{1,19}(?:\.\d{1,9})?)\s*")
_ANNOTATION = re.compile(r"_\[([a-z0-9])\]$")
_JAVA_CLASS = b"java/lang/"
_JAVA_METHOD = re.compile(r"[\w$]+(?:/[\w$.+]+)*\.[\w$<>]+|[\w$]+(?:/[\w$]+)+(?:\[\])*")
_SOURCE = re.compile(r"(?P<name>.+) \((?P<file>[^()]+):(?P<line>\d{1,9})\)")


def import_folded(raw: bytes, options: ImportOptions = NO_OPTIONS) -> list[ImportedProfile]:
    """Convert folded stacks. Raise BadProfile if no line is one, TooLarge above a limit.

    Lines without a value at the end are left out, with a warning.
    """
    type = options.type or ProfileType.CPU
    metric, factor = choose_metric(type, options.unit)
    budget = WorkBudget(len(raw))
    builder = ProfileBuilder([metric], budget)
    locations: dict[str, int] = {}
    unreadable = UnreadableLines()
    is_java = _JAVA_CLASS in raw
    for number, text in number_lines(raw, budget):
        line = text.strip()
        if not line or line.startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        value = _scale(found["value"], factor) if found else 0
        if found is None or value > MAX_VALUE:
            unreadable.add(number)
            continue
        names = [name for name in found["stack"].split(";") if name]
        budget.spend(Work.FRAMES, len(names))
        for name in names:
            if name not in locations:
                locations[name] = builder.location(parse_frame(name, is_java))
        if value and names:
            builder.add([locations[name] for name in reversed(names)], [value])
    if builder.is_empty:
        raise BadProfile("No line is a folded stack with its value, like: main;work 42.")
    return [ImportedProfile(type, builder.build(), warnings=unreadable.warnings())]


def parse_frame(text: str, is_java: bool = False) -> Frame:
    """Parse a frame, with the annotations of the tools that write folded stacks.

    `is_java` says that names like `java/lang/Thread.run` are those of Java classes.
    """
    annotation = _ANNOTATION.search(text)
    if annotation and annotation.start():
        text = text[: annotation.start()]
        if annotation[1] == "k":
            return Frame(text, mapping=KERNEL)
    if is_java and _JAVA_METHOD.fullmatch(text):
        return Frame(stable(text.replace("/", ".")))
    source = _SOURCE.fullmatch(text)
    if source:
        return Frame(source["name"], source["file"], int(source["line"]))
    return Frame(text)


def _scale(text: str, factor: int) -> int:
    return round(float(text) * factor) if "." in text else int(text) * factor
