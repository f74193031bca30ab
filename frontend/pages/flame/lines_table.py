"""Cost and source link of each line of a function."""

from dataclasses import dataclass

from frontend.components.functions.source_links import SourceLinks
from frontend.components.results.coverage_notices import left_out
from frontend.text.units import format_percent, format_value
from profiles.query import LinesResult

MOST_LINES = 100  # about 20 kB; the most expensive lines, ordered by line number


@dataclass(frozen=True, slots=True)
class LineCost:
    line: int  # 0 if unknown
    self: str
    self_share: str
    total: str
    total_share: str
    url: str  # "" without a source link template
    editor_url: str  # "" without an editor link template


@dataclass(frozen=True, slots=True)
class LinesTable:
    name: str
    file: str
    url: str  # of the file
    editor_url: str
    lines: list[LineCost]
    left_out: tuple[str, ...]  # sentences about profiles that are missing from the numbers
    more: int  # number of cheaper lines that are not shown


def lines_table(result: LinesResult, links: SourceLinks) -> LinesTable:
    """Build the table of lines: averages per profile, and shares of the graph's total."""
    heavy = sorted(result.rows, key=lambda row: -row.total)[:MOST_LINES]
    profiles, unit = max(1, result.coverage.profiles), result.metric.unit
    whole = result.drawn_total

    return LinesTable(
        name=result.name,
        file=result.file,
        url=links.source(result.file, 1),
        editor_url=links.editor(result.file, 1),
        lines=[
            LineCost(
                line=row.line,
                self=format_value(row.self / profiles, unit),
                self_share=format_percent(row.self, whole),
                total=format_value(row.total / profiles, unit),
                total_share=format_percent(row.total, whole),
                url=links.source(result.file, row.line) if row.line else "",
                editor_url=links.editor(result.file, row.line) if row.line else "",
            )
            for row in sorted(heavy, key=lambda row: row.line)
        ],
        left_out=left_out(result.coverage),
        more=len(result.rows) - len(heavy),
    )
