"""Options that select profiles, with the names of the API's parameters."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from flamewatch_client.errors import RequestFailed

_RANGE = ("from", "to", "span", "end")
_REPEATABLE = ("zone", "version")


def add_selection(parser: ArgumentParser, *, side: str = "") -> None:
    """Add the options of a selection; with a side only those by which it may differ."""
    if not side:
        parser.add_argument("service", metavar="SERVICE", help="name of the service")
        _add_type(parser)
    _add_range(parser, side)
    _add_repeatable(parser, _REPEATABLE, side)
    if not side:
        _add_filters(parser)


def add_selection_of_versions(parser: ArgumentParser) -> None:
    """Add the options of a selection whose service is an option, too, and without versions."""
    parser.add_argument("--service", help="name of the service")
    _add_type(parser)
    _add_range(parser, "")
    _add_repeatable(parser, ("zone",), "")
    _add_filters(parser)


def add_time_range(parser: ArgumentParser) -> None:
    """Add the options of a range of time alone, for commands on several services."""
    parser.add_argument("--from", metavar="TIME", help="start of the range")
    parser.add_argument("--to", metavar="TIME", help="end of the range (default: now)")
    parser.add_argument(
        "--span", metavar="LENGTH", help="length of the range, like 7d (default: 1d)"
    )


def read_time_range(options: Namespace) -> list[tuple[str, str]]:
    """Return the parameters of the API; the last day by default."""
    given = vars(options)
    pairs = [(name, given[name]) for name in ("from", "to", "span") if given[name]]
    return pairs or [("span", "1d")]


def read_selection(options: Namespace, prefix: str = "") -> list[tuple[str, str]]:
    """Return the parameters of the API; with a prefix those of the baseline.

    Raise RequestFailed for a label without a value.
    """
    given = vars(options)
    start = f"{prefix}_" if prefix else ""
    dot = f"{prefix}." if prefix else ""
    single = _RANGE if prefix else ("service", "type", "metric", *_RANGE)
    pairs = [(f"{dot}{name}", given[start + name]) for name in single if given.get(start + name)]
    for name in _REPEATABLE:
        pairs += [(f"{dot}{name}", value) for value in given.get(start + name, ())]
    if not prefix:
        pairs += [("f", each) for each in options.filter]
        pairs += read_labels(options.label)
    return pairs


def read_labels(labels: Sequence[str]) -> list[tuple[str, str]]:
    """Return the parameters of labels as NAME=VALUE. Raise RequestFailed for one without `=`."""
    pairs = []
    for label in labels:
        name, sign, value = label.partition("=")
        if not sign:
            raise RequestFailed(f"--label {label}: write it as NAME=VALUE.")
        pairs.append((f"label.{name}", value))
    return pairs


def _add_type(parser: ArgumentParser) -> None:
    parser.add_argument("--type", default="CPU", help="profile type (default: %(default)s)")
    parser.add_argument("--metric", help="name of the value, like inuse_objects")


def _add_range(parser: ArgumentParser, side: str) -> None:
    suffix = f" of the {side}" if side else ""
    prefix = "b-" if side else ""
    since, until, last = ([] if side else [name] for name in ("--since", "--until", "--last"))
    parser.add_argument(
        f"--{prefix}from", *since, metavar="TIME", help=f"start{suffix}: RFC 3339 with a time zone"
    )
    parser.add_argument(f"--{prefix}to", *until, metavar="TIME", help=f"end{suffix} (default: now)")
    parser.add_argument(
        f"--{prefix}span", *last, metavar="LENGTH", help=f"length{suffix}, like 10m or 7d"
    )
    parser.add_argument(f"--{prefix}end", metavar="TIME", help=f"end{suffix}, with a length")


def _add_repeatable(parser: ArgumentParser, names: Sequence[str], side: str) -> None:
    suffix = f" of the {side}" if side else ""
    for name in names:
        parser.add_argument(
            f"--b-{name}" if side else f"--{name}",
            action="append",
            default=[],
            help=f"{name}{suffix}; may be repeated",
        )


def _add_filters(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--label", action="append", default=[], metavar="NAME=VALUE", help="label of profiles"
    )
    parser.add_argument(
        "--filter",
        action="append",
        default=[],
        metavar="FILTER",
        help="show:, hide:, hideframes: or from: and a pattern; may be repeated",
    )
