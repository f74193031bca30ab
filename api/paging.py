"""Pages of rows that are listed by their primary key, and parameters of all pages."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from django.db.models import Model

from endpoints.params import values
from endpoints.params.parameter import Parameter

Row = TypeVar("Row", bound=Model)

AFTER = Parameter("page", "Token of a page", partial(values.count, most=2**63 - 1), 0)
SIZE = Parameter("size", "Rows of a page", partial(values.count, most=1000), 100)


def page_fields(
    rows: Sequence[Row], size: int, document: Callable[[Row], dict[str, Any]]
) -> dict[str, Any]:
    """Return `rows` and `next_page` of a document; `rows` has one row more if a page follows."""
    page = rows[:size]
    next_page = str(page[-1].pk) if len(rows) > size else None
    return {"rows": [document(row) for row in page], "next_page": next_page}
