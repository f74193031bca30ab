"""Command that lists the changes of functions which the server found by itself."""

from argparse import ArgumentParser, Namespace
from typing import Any

from flamewatch_client.connection import ServerConnection
from flamewatch_client.terminal import (
    format_share,
    format_time,
    format_value,
    print_json,
    print_table,
)

_STATES = ["new", "acknowledged", "resolved", "muted"]
_FILTERS = ("direction", "state", "service", "type", "function", "version")
_PAGE = 1000  # rows of a request, the most that the server allows


def add_regressions(parser: ArgumentParser) -> None:
    parser.add_argument("--service", metavar="SERVICE", help="only findings of this service")
    parser.add_argument("--type", metavar="TYPE", help="only findings of this profile type")
    parser.add_argument("--function", metavar="TEXT", help="only functions with it in their name")
    parser.add_argument("--version", help="only changes that came with this version")
    parser.add_argument("--state", choices=_STATES, help="only findings of this state")
    parser.add_argument(
        "--direction",
        choices=["regression", "improvement", "any"],
        default="regression",
        help="(default: %(default)s)",
    )
    parser.add_argument("--size", type=int, default=100, help="rows (default: %(default)s)")


def print_regressions(options: Namespace, connection: ServerConnection) -> int:
    rows = _read_rows(options, connection)
    if options.json:
        return print_json({"rows": rows})
    table = [
        (
            row["id"],
            row["service"],
            row["type"],
            row["state"],
            _format_change(row),
            _format_relative(row),
            format_time(row["since"]),
            row["version"],
            row["function"],
        )
        for row in rows
    ]
    headings = ("ID", "SERVICE", "TYPE", "STATE", "CHANGE", "CHANGE%", "SINCE", "VERSION")
    print_table((*headings, "FUNCTION"), table, "    rr")
    return 0


def _read_rows(options: Namespace, connection: ServerConnection) -> list[dict[str, Any]]:
    """Read pages until there are `--size` rows, in the order in which they were found."""
    given = vars(options)
    pairs = [(name, given[name]) for name in _FILTERS if given[name]]
    path = connection.project_path("regressions")
    rows: list[dict[str, Any]] = []
    page: list[tuple[str, str]] = []
    while len(rows) < options.size:
        size = str(min(_PAGE, options.size - len(rows)))
        document = connection.get(path, [*pairs, ("size", size), *page])
        rows += document["rows"]
        if not document["next_page"]:
            break
        page = [("page", document["next_page"])]
    return rows


def _format_change(row: dict[str, Any]) -> str:
    """Return the change of one profile."""
    sign = "+" if row["change"] > 0 else ""
    return sign + format_value(row["change"], row["unit"])


def _format_relative(row: dict[str, Any]) -> str:
    if row["relative"] is None:
        return "new"
    sign = "+" if row["relative"] > 0 else ""
    return sign + format_share(row["relative"], 1.0)
