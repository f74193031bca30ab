"""Commands that query profiles: services, top, flame, diff and download."""

import shutil
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from flamewatch_client import flame_graph
from flamewatch_client.connection import ServerConnection
from flamewatch_client.errors import RequestFailed
from flamewatch_client.selection import (
    add_selection,
    add_time_range,
    read_selection,
    read_time_range,
)
from flamewatch_client.terminal import (
    format_share,
    format_time,
    format_value,
    has_colours,
    make_printable,
    paint,
    print_json,
    print_table,
)

_SUFFIXES = {"pprof": "pb.gz", "folded": "folded", "speedscope": "speedscope.json"}


def add_services(parser: ArgumentParser) -> None:
    add_time_range(parser)


def list_services(options: Namespace, connection: ServerConnection) -> int:
    document = connection.get(connection.project_path("services"), read_time_range(options))
    if options.json:
        return print_json(document)
    rows = [
        (
            row["service"],
            f"{row['profiles']:,}",
            format_time(row["last_profile"]),
            ",".join(row["types"]),
            next(iter(row["versions"]), ""),
        )
        for row in document["services"]
    ]
    print_table(("SERVICE", "PROFILES", "LAST PROFILE", "TYPES", "NEWEST VERSION"), rows, " r")
    return 0


def add_top(parser: ArgumentParser) -> None:
    add_selection(parser)
    parser.add_argument("--sort", choices=["self", "total"], default="self", help="order")
    parser.add_argument("--size", type=int, default=20, help="functions (default: %(default)s)")


def print_top(options: Namespace, connection: ServerConnection) -> int:
    pairs = [*read_selection(options), ("sort", options.sort), ("size", str(options.size))]
    document = connection.get(connection.project_path("top"), pairs)
    if options.json:
        return print_json(document)
    _print_head(document)
    functions, whole = document["functions"], document["total"]
    unit = document["metric"]["unit"]
    rows = [
        (
            format_value(own, unit),
            format_share(own, whole),
            format_value(total, unit),
            format_share(total, whole),
            name,
        )
        for name, own, total in zip(
            functions["name"], functions["self"], functions["total"], strict=True
        )
    ]
    print_table(("SELF", "SELF%", "TOTAL", "TOTAL%", "FUNCTION"), rows, "rrrr")
    return 0


def add_flame(parser: ArgumentParser) -> None:
    add_selection(parser)
    parser.add_argument("--depth", type=int, default=40, help="levels (default: %(default)s)")
    parser.add_argument("--width", type=int, help="columns (default: those of the terminal)")
    parser.add_argument("--focus", metavar="FUNCTION", help="callees of a function, by full name")
    parser.add_argument("--bottom-up", action="store_true", help="callers below each function")


def print_flame(options: Namespace, connection: ServerConnection) -> int:
    pairs = read_selection(options)
    if options.focus:
        pairs.append(("focus", options.focus))
    if options.bottom_up:
        pairs.append(("view", "bottomup"))
    document = connection.get(connection.project_path("tree"), pairs)
    if options.json:
        return print_json(document)
    _print_head(document)
    width = options.width or shutil.get_terminal_size((100, 24)).columns
    tree, root = document.get("callees", document), f"{options.service} {options.type}"
    for line in flame_graph.draw(tree, root, max(20, width), options.depth, has_colours()):
        print(line)
    return 0


def add_diff(parser: ArgumentParser) -> None:
    add_selection(parser)
    add_selection(parser, side="baseline")
    parser.add_argument("--size", type=int, default=20, help="functions (default: %(default)s)")
    parser.add_argument(
        "--significant", action="store_true", help="only differences that are significant"
    )


def print_diff(options: Namespace, connection: ServerConnection) -> int:
    pairs = [*read_selection(options), *read_selection(options, "b")]
    if not any(name.startswith("b.") for name, _ in pairs):
        raise RequestFailed("Say what to compare with, for example --b-version or --b-span.")
    document = connection.get(connection.project_path("compare"), pairs)
    if options.json:
        return print_json(document)
    _print_head(document)
    _print_head(document["b"] | {"metric": document["metric"]}, "Baseline: ")
    print_table(
        ("CHANGE", "CHANGE%", "SELECTED", "BASELINE", "SIGNIFICANT", "FUNCTION"),
        _list_differences(document, options),
        "rrrr",
    )
    if document["why_no_intervals"]:
        print(document["why_no_intervals"])
    return 0


def _list_differences(document: dict[str, Any], options: Namespace) -> list[tuple[str, ...]]:
    """Return rows of means per profile, the greatest change of totals first."""
    functions, unit = document["functions"], document["metric"]["unit"]
    profiles, others = document["profiles"] or 1, document["b"]["profiles"] or 1
    changes = [
        (selected / profiles, base / others, is_real, name)
        for name, selected, base, is_real in zip(
            functions["name"],
            functions["a_total"],
            functions["b_total"],
            functions["real"],
            strict=True,
        )
        if (is_real or not options.significant) and selected * others != base * profiles
    ]
    changes.sort(key=lambda row: (-abs(row[0] - row[1]), row[3]))
    return [
        (
            ("+" if selected > base else "") + format_value(selected - base, unit),
            f"{100 * (selected - base) / base:+.1f}%" if base else "new",
            format_value(selected, unit),
            format_value(base, unit),
            "yes" if is_real else "",
            name,
        )
        for selected, base, is_real, name in changes[: options.size]
    ]


def add_download(parser: ArgumentParser) -> None:
    add_selection(parser)
    parser.add_argument("--format", choices=[*_SUFFIXES], default="pprof", help="format")
    parser.add_argument(
        "--output", "-o", metavar="FILE", help="file, or - for standard output (default: by name)"
    )


def download(options: Namespace, connection: ServerConnection) -> int:
    pairs = [*read_selection(options), ("format", options.format)]
    content = connection.send("GET", connection.project_path("tree"), pairs)
    if options.output == "-":
        sys.stdout.buffer.write(content)
        return 0
    name = f"{options.service}_{options.type}.{_SUFFIXES[options.format]}"
    path = Path(options.output or name.replace("/", "_"))
    try:
        path.write_bytes(content)
    except OSError as error:
        raise RequestFailed(f"Cannot write {path}: {error.strerror}.") from None
    if options.json:
        return print_json({"file": str(path), "bytes": len(content)})
    print(f"{path}: {len(content):,} bytes")
    return 0


def _print_head(document: dict[str, Any], prefix: str = "") -> None:
    """Print how many profiles were summed, and how many were left out."""
    metric = document["metric"]
    total = format_value(document["total"], metric["unit"])
    number = document["profiles"]
    count = "1 profile" if number == 1 else f"{number:,} profiles"
    text = f"{prefix}{count}, {metric['name']} {total}"
    if document["first"]:
        text += f", {format_time(document['first'])} to {format_time(document['last'])}"
    print(paint(make_printable(text), "2"))
    for missing in document["missing"]:
        print(f"Left out: {missing['profiles']:,} profiles. {make_printable(missing['why'])}")
