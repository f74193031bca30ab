"""Queries for `go tool pprof` and for the engine."""

from dataclasses import dataclass
from pathlib import Path

from profiles.engine.calltree.filters import Filters

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "samples"


@dataclass(frozen=True, slots=True)
class Sample:
    """One profile, or several of one program, which queries merge."""

    name: str
    type: str  # of the profiles
    files: str = ""  # a glob pattern; empty: the file of the sample's name

    @property
    def paths(self) -> list[Path]:
        return sorted(SAMPLES.glob(self.files or f"{self.name}.pb.gz"))


@dataclass(frozen=True, slots=True)
class GoldenQuery:
    """List of functions for one metric (`-top`, or `-peek` with callers and callees)."""

    sample: Sample
    metric: str
    unit: str  # as pprof names it; makes its numbers exact
    title: str
    focus: str = ""
    ignore: str = ""
    hide: str = ""
    show_from: str = ""
    peek: str = ""
    base: Sample | None = None  # subtracted from the sample

    @property
    def path(self) -> Path:
        return HERE / f"{self.sample.name}.{self.metric}.{self.title}.txt"

    def arguments(self) -> list[str]:
        """Return the command line options of `go tool pprof`."""
        options = {
            "peek": self.peek,
            "sample_index": self.metric,
            "unit": self.unit,
            "focus": self.focus,
            "ignore": self.ignore,
            "hide": self.hide,
            "show_from": self.show_from,
        }
        kind = ["-edgefraction=0"] if self.peek else ["-top"]
        return [*kind, *(f"-{name}={value}" for name, value in options.items() if value)]

    def filters(self) -> Filters:
        return Filters(
            show=_expression(self.focus),
            hide=_expression(self.ignore),
            hide_frames=_expression(self.hide),
            show_from=_expression(self.show_from),
        )


def _expression(pattern: str) -> tuple[str, ...]:
    return (f"/{pattern}/",) if pattern else ()


def _of(
    sample: Sample, metric: str, unit: str, base: Sample | None = None, **titled: dict[str, str]
) -> list[GoldenQuery]:
    return [
        GoldenQuery(sample, metric, unit, title, base=base, **said)
        for title, said in titled.items()
    ]


GO_CPU, GO_HEAP = Sample("go-cpu", "CPU"), Sample("go-heap", "HEAP")
GO_MUTEX, GO_THREADS = Sample("go-mutex", "CONTENTION"), Sample("go-goroutine", "THREADS")
PYTHON_WALL, PYTHON_HEAP = Sample("python-wall", "WALL"), Sample("python-heap", "HEAP")
NODE_HEAP = Sample("node-heap", "HEAP")
# 20 profiles each, except 4 of Node.js.
MANY_GO = Sample("many-go-cpu", "CPU", "series/go-cpu-*")
MANY_PYTHON = Sample("many-python-wall", "WALL", "series/python-wall-*")
EARLY_PYTHON = Sample("early-python-wall", "WALL", "series/python-wall-0*")
LATE_PYTHON = Sample("late-python-wall", "WALL", "series/python-wall-1*")
MANY_NODE = Sample("many-node-wall", "WALL", "series/node-wall-*")

QUERIES = [
    *_of(
        GO_CPU,
        "cpu",
        "ns",
        all={},
        focus={"focus": r"compress/flate\."},
        ignore={"ignore": r"^runtime\."},
        hide={"focus": "json|main", "hide": r"^runtime\.|sync"},
        show_from={"show_from": r"regexp\.|^sort"},
        mixed={
            "focus": "json",
            "ignore": r"mallocgc$",
            "hide": r"reflect|\.func\d",
            "show_from": r"json\.(Un)?[mM]arshal",
        },
    ),
    *_of(GO_CPU, "samples", "count", recursion={"show_from": r"encodeState|walk"}),
    *_of(
        GO_HEAP,
        "inuse_space",
        "B",
        all={},
        hide={"hide": r"^runtime|^go/"},
        show_from={"show_from": r"^main\."},
    ),
    *_of(GO_HEAP, "alloc_objects", "count", focus={"focus": "^go/printer"}),
    *_of(
        GO_MUTEX,
        "delay",
        "ns",
        all={},
        ignore={"ignore": "Unlock$"},
        hide={"hide": "Unlock$|^main"},
    ),
    *_of(GO_MUTEX, "contentions", "count", focus={"focus": "flate"}),
    *_of(GO_THREADS, "goroutine", "count", all={}, hide={"hide": "^runtime"}),
    *_of(
        PYTHON_WALL,
        "wall",
        "ns",
        all={},
        recursion={"show_from": "_iterencode_(list|dict)"},
        peek_recursion={"peek": "_iterencode"},
        by_file={"focus": r"json/.*\.py$", "hide": r"decoder\.py"},
    ),
    *_of(PYTHON_HEAP, "inuse_space", "B", all={}, focus={"focus": "coder:"}),
    *_of(
        MANY_GO,
        "cpu",
        "ns",
        all={},
        focus={"focus": r"json\.|regexp"},
        ignore={"ignore": r"^runtime\.(gc|mallocgc)"},
        hide={"hide": r"^runtime\.|reflect"},
        show_from={"show_from": r"^main\."},
        mixed={
            "focus": "main",
            "ignore": "flate|sha256",
            "hide": r"^runtime\.|\.func\d",
            "show_from": r"json\.|format|regexp",
        },
        peek={"peek": r"^main\.(roundTrip|formatSource|mixed|records)$|^regexp\.\(\*Regexp\)"},
        peek_hidden={"peek": r"^compress/gzip|^slices\.SortFunc", "hide": r"^runtime\.|^main\."},
        peek_recursion={"peek": r"^main\.descend|json\..*(reflectValue|Encoder|decodeState)"},
    ),
    *_of(MANY_GO, "cpu", "ns", base=GO_CPU, diff={}, diff_focus={"focus": "json", "hide": "^run"}),
    *_of(MANY_GO, "samples", "count", all={}, recursion={"show_from": r"encodeState|descend"}),
    *_of(GO_CPU, "cpu", "ns", base=MANY_GO, diff={}),
    *_of(
        MANY_PYTHON,
        "wall",
        "ns",
        all={},
        focus={"focus": r"Order\."},
        ignore={"ignore": r"^ast\."},
        hide={"hide": r"json/.*\.py$|listcomp"},
        show_from={"show_from": r"^(as_json|parsed|packed)$"},
        peek={"peek": r"^(as_json|packed|orders|main)$"},
    ),
    *_of(LATE_PYTHON, "wall", "ns", base=EARLY_PYTHON, diff={}, diff_hide={"hide": "<locals>"}),
    *_of(
        MANY_NODE,
        "wall",
        "ns",
        all={},
        focus={"focus": "fibonacci"},
        ignore={"ignore": "node:internal"},
        hide={"hide": r"^\(|^node:"},
        show_from={"show_from": "^work"},
        peek={"peek": "^(roundTrip|work|matching)"},
        peek_recursion={"peek": "fibonacci"},
    ),
    *_of(MANY_NODE, "sample", "count", all={}),
    *_of(NODE_HEAP, "inuse_space", "B", all={}, focus={"focus": "records"}),
    *_of(NODE_HEAP, "inuse_objects", "count", all={}, hide={"hide": "^node:"}),
]
