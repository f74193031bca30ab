"""Pagination of long lists."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pages:
    """One page of a list: page number `page` (from 1) of `pages`, with rows `[first, behind)`."""

    page: int
    pages: int
    first: int
    behind: int

    @property
    def previous(self) -> int:
        return self.page - 1

    @property
    def next(self) -> int:
        return self.page + 1


def paginate(rows: int, size: int, page: int) -> Pages:
    """Return the requested page, or the nearest existing one."""
    pages = max(1, -(-rows // size))
    page = min(max(1, page), pages)
    return Pages(page, pages, (page - 1) * size, page * size)
