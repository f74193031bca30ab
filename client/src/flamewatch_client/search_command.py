"""Command that searches for functions in the CPU profiles of all services."""

from argparse import ArgumentParser, Namespace
from typing import Any

from flamewatch_client.connection import ServerConnection
from flamewatch_client.selection import add_time_range, read_time_range
from flamewatch_client.terminal import (
    format_share,
    format_value,
    make_printable,
    paint,
    print_json,
    print_table,
)


def add_search(parser: ArgumentParser) -> None:
    parser.add_argument(
        "find", metavar="TEXT", help="part of the name of a function or file, or /regex/"
    )
    add_time_range(parser)
    parser.add_argument("--versions", action="store_true", help="a row for each version")


def print_search(options: Namespace, connection: ServerConnection) -> int:
    pairs = [("find", options.find), *read_time_range(options)]
    document = connection.get(connection.project_path("functions"), pairs)
    if options.json:
        return print_json(document)
    services = sorted(document["services"], key=lambda row: (-(row["cores"] or 0), -row["share"]))
    if options.versions:
        _print_versions(services)
    else:
        _print_services(services, document["currency"])
    text = f"{len(services):,} of {document['examined']:,} services"
    if not document["complete"]:
        text += "; not all were examined in time, choose a shorter range"
    print(paint(text, "2"))
    for failure in document["failures"]:
        print(make_printable(f"{failure['service']}: {failure['reason']}"))
    return 0


def _print_services(services: list[dict[str, Any]], currency: str) -> None:
    rows = [
        (
            row["service"],
            format_share(row["share"], 1.0),
            format_value(row["value"], row["unit"]),
            "" if row["cores"] is None else f"{row['cores']:,.3g}",
            "" if row["cost_a_month"] is None else f"{row['cost_a_month']:,.2f}",
            row["callers"][0]["name"] if row["callers"] else "",
        )
        for row in services
    ]
    cost = f"{currency} A MONTH" if currency else "COST A MONTH"
    print_table(("SERVICE", "SHARE", "PER PROFILE", "CORES", cost, "CALLED BY"), rows, " rrrr")


def _print_versions(services: list[dict[str, Any]]) -> None:
    rows = [
        (
            row["service"],
            version["version"],
            format_share(version["share"], 1.0),
            format_value(version["mean"], row["unit"]),
            f"{version['profiles']:,}",
        )
        for row in services
        for version in row["versions"]
    ]
    print_table(("SERVICE", "VERSION", "SHARE", "PER PROFILE", "PROFILES"), rows, "  rrr")
