"""Options that select profiles, with the names of the API's parameters."""

from argparse import ArgumentParser, Namespace

_RANGE = ("from", "to", "span", "end")
_REPEATABLE = ("zone", "version")


def add_selection(parser: ArgumentParser, *, side: str = "") -> None:
    """Add the options of a selection; with a side only those by which it may differ."""
    suffix = f" of the {side}" if side else ""
    prefix = "b-" if side else ""
    if not side:
        parser.add_argument("service", metavar="SERVICE", help="name of the service")
        parser.add_argument("--type", default="CPU", help="profile type (default: %(default)s)")
        parser.add_argument("--metric", help="name of the value, like inuse_objects")
    parser.add_argument(
        f"--{prefix}from", metavar="TIME", help=f"start{suffix}: RFC 3339 with a time zone"
    )
    parser.add_argument(f"--{prefix}to", metavar="TIME", help=f"end{suffix} (default: now)")
    parser.add_argument(f"--{prefix}span", metavar="LENGTH", help=f"length{suffix}, like 10m or 7d")
    parser.add_argument(f"--{prefix}end", metavar="TIME", help=f"end{suffix}, with a length")
    for name in _REPEATABLE:
        parser.add_argument(
            f"--{prefix}{name}",
            action="append",
            default=[],
            help=f"{name}{suffix}; may be repeated",
        )
    if not side:
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


def read_selection(options: Namespace, prefix: str = "") -> list[tuple[str, str]]:
    """Return the parameters of the API; with a prefix those of the baseline."""
    given = vars(options)
    start = f"{prefix}_" if prefix else ""
    dot = f"{prefix}." if prefix else ""
    single = _RANGE if prefix else ("service", "type", "metric", *_RANGE)
    pairs = [(f"{dot}{name}", given[start + name]) for name in single if given.get(start + name)]
    for name in _REPEATABLE:
        pairs += [(f"{dot}{name}", value) for value in given[start + name]]
    if not prefix:
        pairs += [("f", each) for each in options.filter]
        for label in options.label:
            name, _, value = label.partition("=")
            pairs.append((f"label.{name}", value))
    return pairs
