"""Cost and source link of each line of a function."""

from dataclasses import dataclass

from frontend.components.left_out import left_out
from frontend.components.source_links import source_link
from frontend.components.units import format_percent, format_value
from profiles.query import LinesResult
from projects.models import Project

MOST_LINES = 100  # about 20 kB; the most expensive lines, ordered by line number


@dataclass(frozen=True, slots=True)
class LineCost:
    line: int  # 0 if unknown
    self: str
    self_share: str
    total: str
    total_share: str
    url: str  # "" without a source link template


@dataclass(frozen=True, slots=True)
class LinesTable:
    name: str
    file: str
    url: str  # of the file
    lines: list[LineCost]
    left_out: tuple[str, ...]  # sentences about profiles that are missing from the numbers
    more: int  # number of cheaper lines that are not shown


def lines_table(result: LinesResult, project: Project, version: str) -> LinesTable:
    """Build the table of lines: averages per profile, and shares of the selection's total."""
    heavy = sorted(result.rows, key=lambda row: -row.total)[:MOST_LINES]
    profiles, unit = max(1, result.coverage.profiles), result.metric.unit
    whole = result.coverage.total

    def url(line: int) -> str:
        return source_link(project.source_url, project.source_root, result.file, line, version)

    return LinesTable(
        name=result.name,
        file=result.file,
        url=url(1),
        lines=[
            LineCost(
                line=row.line,
                self=format_value(row.self / profiles, unit),
                self_share=format_percent(row.self, whole),
                total=format_value(row.total / profiles, unit),
                total_share=format_percent(row.total, whole),
                url=url(row.line) if row.line else "",
            )
            for row in sorted(heavy, key=lambda row: row.line)
        ],
        left_out=left_out(result.coverage),
        more=len(result.rows) - len(heavy),
    )
