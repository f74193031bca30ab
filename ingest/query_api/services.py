"""`…/services`: what runs in the project, and whether profiles come."""

from dataclasses import asdict

from ingest.query_api.asking import Asking, Question
from ingest.query_api.documents import dumps, head
from ingest.query_api.forms import JSON
from profiles.addresses.selection import read_range
from profiles.query import run_services


def question(asking: Asking) -> Question:
    asking.form(JSON)
    within = read_range(asking.parameters, asking.now)

    def answer(deadline: float) -> bytes:
        found = run_services(asking.project, within.start, within.end, deadline)
        rows = [asdict(row) for row in found.rows]
        return dumps({**head(asking), "start": within.start, "end": within.end, "services": rows})

    return Question(answer, within.end)
