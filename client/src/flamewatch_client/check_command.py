"""`flamewatch check`: fail if a version is slower than another, for pipelines of CI.

It compares versions by the profiles of a server, or by profile files of benchmark runs.
"""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from flamewatch_client import stored_login
from flamewatch_client.benchmark_comparison import compare_files
from flamewatch_client.check_image import render_svg
from flamewatch_client.check_report import CheckReport
from flamewatch_client.check_verdict import (
    MIN_PROFILES,
    CheckLimits,
    CheckOutcome,
    judge_comparison,
)
from flamewatch_client.connection import Pairs, ServerConnection
from flamewatch_client.errors import RequestFailed
from flamewatch_client.selection import add_selection_of_versions, read_selection
from flamewatch_client.terminal import print_json

REGRESSION, FAILURE, TOO_FEW = 1, 2, 3  # exit codes
_LIMITS = CheckLimits()
_DEFAULT_SPAN = "7d"
_STANDARD_OUTPUT = "-"


def add_check(parser: ArgumentParser) -> None:
    add_selection_of_versions(parser)
    parser.add_argument("--base", required=True, metavar="VERSION", help="version to compare with")
    parser.add_argument("--head", required=True, metavar="VERSION", help="version to judge")
    _add_benchmark(parser)
    _add_limits(parser)
    _add_report(parser)
    parser.set_defaults(failure_code=FAILURE)


def _add_benchmark(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--benchmark",
        action="store_true",
        help="compare profile files, without a server: --base and --head are folders with a file "
        "in pprof of each run",
    )
    parser.add_argument(
        "--share",
        action="store_true",
        help="with --benchmark, compare shares of the total: for runs of a fixed time",
    )


def _add_limits(parser: ArgumentParser) -> None:
    _add_percent(parser, "--threshold", _LIMITS.threshold, "increase of a function that fails")
    parser.add_argument(
        "--total-threshold",
        type=_build_percent(0),
        metavar="PERCENT",
        help="increase of the total that fails (default: that of functions)",
    )
    _add_percent(parser, "--min-share", _LIMITS.min_share, "least share of a function in the total")
    parser.add_argument(
        "--false-alarms",
        type=_build_percent(0, 50),
        default=_LIMITS.false_alarms,
        metavar="PERCENT",
        help="checks that may fail by chance, at most (default: %(default)g)",
    )
    parser.add_argument(
        "--value",
        choices=["self", "total"],
        default=_LIMITS.value,
        help="value of functions, without or with their callees (default: %(default)s)",
    )
    parser.add_argument(
        "--fail-added", action="store_true", help="fail also for functions that the base has not"
    )
    parser.add_argument(
        "--min-profiles",
        type=int,
        default=MIN_PROFILES,
        metavar="NUMBER",
        help="profiles that each version needs (default and least: %(default)s)",
    )
    parser.add_argument(
        "--too-few",
        choices=["fail", "pass"],
        default="fail",
        help="result with fewer profiles: exit code 3 or 0 (default: %(default)s)",
    )


def _add_report(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--markdown",
        nargs="?",
        const=_STANDARD_OUTPUT,
        metavar="FILE",
        help="write Markdown to a file, or to standard output instead of the table",
    )
    parser.add_argument("--svg", metavar="FILE", help="write an image of the changes to a file")
    parser.add_argument(
        "--size", type=int, default=20, help="functions of each kind (default: %(default)s)"
    )


def check(options: Namespace) -> int:
    """Compare and report; return 0, REGRESSION or TOO_FEW."""
    if options.markdown == _STANDARD_OUTPUT and options.json:
        raise RequestFailed("Use either --json, or --markdown without a file.")
    if options.benchmark:
        report = _compare_files(options)
    else:
        if not options.service:
            raise RequestFailed("Name the service by --service, or compare files by --benchmark.")
        if options.share:
            raise RequestFailed("--share compares files: use it with --benchmark.")
        report = compare_versions(options, stored_login.connect(options))
    return _print_report(options, report)


def _compare_files(options: Namespace) -> CheckReport:
    if pairs := [name for name, _ in read_selection(options) if name not in {"type", "metric"}]:
        raise RequestFailed(f"Files have no {pairs[0]}: --benchmark and this option exclude it.")
    base, head = Path(options.base), Path(options.head)
    document = compare_files(base, head, options.metric or "", as_share=options.share)
    return CheckReport(
        verdict=judge_comparison(document, _read_limits(options)),
        service="benchmark",
        type=document["metric"]["name"],
        unit=document["metric"]["unit"],
        base=options.base,
        head=options.head,
        size=max(options.size, 0),
    )


def _print_report(options: Namespace, report: CheckReport) -> int:
    is_markdown_printed = options.markdown == _STANDARD_OUTPUT
    if options.markdown and not is_markdown_printed:
        _write(Path(options.markdown), report.render_markdown())
    if options.svg:
        _write(Path(options.svg), render_svg(report))
    if options.json:
        print_json(report.to_json())
    elif is_markdown_printed:
        print(report.render_markdown(), end="")
    else:
        report.print_table()
    match report.verdict.outcome:
        case CheckOutcome.REGRESSION:
            return REGRESSION
        case CheckOutcome.TOO_FEW_PROFILES:
            return 0 if options.too_few == "pass" else TOO_FEW
        case CheckOutcome.NO_REGRESSION:
            return 0


def compare_versions(options: Namespace, connection: ServerConnection) -> CheckReport:
    """Compare two versions by the profiles of the server. Raise RequestFailed."""
    pairs = build_query(options, datetime.now(UTC))
    document = connection.get(connection.project_path("compare"), pairs)
    return _build_report(options, connection, document, pairs)


def build_query(options: Namespace, now: datetime) -> list[tuple[str, str]]:
    """Return the parameters of the comparison, of a range that ends at a fixed time.

    The link in the report shows the same profiles later.
    """
    pairs = read_selection(options)
    given = {name for name, _ in pairs}
    end = now.isoformat(timespec="seconds")
    if "from" in given:
        pairs += [("to", end)] * ("to" not in given)
    else:
        pairs = [("end" if name == "to" else name, value) for name, value in pairs]
        pairs += [("end", end)] * given.isdisjoint({"to", "end"})
        pairs += [("span", _DEFAULT_SPAN)] * ("span" not in given)
    return [*pairs, ("version", options.head), ("b.version", options.base)]


def _build_report(
    options: Namespace, connection: ServerConnection, document: dict[str, Any], pairs: Pairs
) -> CheckReport:
    try:
        verdict = judge_comparison(document, _read_limits(options))
    except KeyError as missing:
        raise RequestFailed(f"The server's comparison has no {missing}. Upgrade it.") from None
    project = quote(document["project"], safe="")
    return CheckReport(
        verdict=verdict,
        service=options.service,
        type=options.type,
        unit=document["metric"]["unit"],
        base=options.base,
        head=options.head,
        link=f"{connection.url}/p/{project}/compare?{urlencode(pairs)}",
        notes=(
            *_describe_missing("head", document["missing"]),
            *_describe_missing("base", document["b"]["missing"]),
        ),
        size=max(options.size, 0),
    )


def _read_limits(options: Namespace) -> CheckLimits:
    total_threshold = options.total_threshold
    return CheckLimits(
        threshold=options.threshold,
        total_threshold=options.threshold if total_threshold is None else total_threshold,
        min_share=options.min_share,
        false_alarms=options.false_alarms,
        min_profiles=options.min_profiles,
        fails_added=options.fail_added,
        value=options.value,
    )


def _describe_missing(side: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    return [f"Left out of the {side}: {row['profiles']:,} profiles. {row['why']}" for row in rows]


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RequestFailed(f"Cannot write {path}: {error.strerror}.") from None


def _add_percent(parser: ArgumentParser, name: str, default: float, meaning: str) -> None:
    parser.add_argument(
        name,
        type=_build_percent(0),
        default=default,
        metavar="PERCENT",
        help=f"{meaning} (default: %(default)g)",
    )


def _build_percent(least: float, most: float = 10_000) -> Callable[[str], float]:
    """Return a reader of percentages for argparse."""

    def read_percent(text: str) -> float:
        try:
            value = float(text.removesuffix("%"))
        except ValueError:
            raise ArgumentTypeError(f"{text!r} is not a number") from None
        if not least <= value <= most:
            raise ArgumentTypeError(f"{text} is not from {least:g} to {most:g}")
        return value

    return read_percent
