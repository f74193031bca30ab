"""Notes beside the version marks of a chart: their marks, and links to read and to add them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from common.time_text import time_text
from profiles.query import Selection
from projects import annotations
from projects.models import Annotation, Project

_LONGEST = 200  # characters of a note's text in a chart's readout


@dataclass(frozen=True, slots=True)
class ChartNotes:
    """Notes in the range of a chart by time, and those of functions of its service."""

    of_times: Sequence[Annotation]
    of_functions: Sequence[Annotation]
    url: str  # of the list of the service's notes; the fragment `note-ID` names one
    add_url: str  # of the form, at the end of the selected range

    @property
    def marks(self) -> list[tuple[float, str, int]]:
        """Return the notes as the charts expect them: Unix timestamp, truncated text, id."""
        return [(row.at.timestamp(), _shorten(row.text), row.pk) for row in self.of_times if row.at]


def chart_notes(
    project: Project,
    shown: Selection,
    selected: Selection | None = None,
    *,
    with_functions: bool = False,
) -> ChartNotes:
    """Return the notes of a chart that shows one selection, by one SQL statement.

    `selected` is the selected part of the chart, if it is not the whole.
    """
    scope = (project.pk, shown.service, shown.start, shown.end)
    times, functions = (
        annotations.with_functions(*scope)
        if with_functions
        else (annotations.list_by_service(*scope), [])
    )
    end = time_text((selected or shown).end)
    query = urlencode({"service": shown.service})
    return ChartNotes(
        times,
        functions,
        url=f"{reverse('notes', args=[project.project_id])}?{query}",
        add_url=new_note_url(project, shown.service, at=end),
    )


def new_note_url(project: Project, service: str, **values: str) -> str:
    """Return the URL of the form of a new note with these values."""
    query = urlencode({"service": service, **values})
    return f"{reverse('new_note', args=[project.project_id])}?{query}"


def find_notes(notes: Sequence[Annotation], start: datetime, end: datetime) -> list[Annotation]:
    """Return the notes at a time in [start, end)."""
    return [row for row in notes if row.at and start <= row.at < end]


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
