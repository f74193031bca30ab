"""Bound the memory used by the bodies of uploads, in total and for each project.

Bytes are charged when they arrive, not when a request declares them in Content-Length: a
declaration costs the client nothing, and twelve large ones would lock out all other clients.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from common.request_body import Charge
from endpoints.errors import Overloaded
from projects.usage import rejections
from projects.usage.rejections import RejectionReason

TOTAL_BYTES = 256 * 2**20
# Two uploads of the largest size, unpacked from their Content-Encoding, and many of usual size.
PROJECT_BYTES = 64 * 2**20


class UploadBudget:
    """Bytes in memory by project. Not thread-safe: use from one event loop only."""

    def __init__(self, total: int = TOTAL_BYTES, of_project: int = PROJECT_BYTES) -> None:
        self._total, self._of_project = total, of_project
        self._charged = 0
        self._charged_by: dict[int, int] = {}

    @contextmanager
    def account(self, project: int) -> Iterator[Charge]:
        """Yield a function that charges bytes to the project; release all of them on exit.

        The function raises Overloaded if the project, or all projects together, would exceed the
        budget.
        """
        charged = 0

        def charge(size: int) -> None:
            nonlocal charged
            self._charge(project, size)
            charged += size

        try:
            yield charge
        finally:
            self._release(project, charged)

    def _charge(self, project: int, size: int) -> None:
        already = self._charged_by.get(project, 0)
        if already + size > self._of_project:
            rejections.note(project, RejectionReason.UPLOAD_MEMORY)
            raise Overloaded(
                f"Uploads of this project in progress use {already:,} bytes of memory; the limit "
                f"of a project is {self._of_project:,}. Try again later."
            )
        if self._charged + size > self._total:
            rejections.note(project, RejectionReason.SERVER_BUSY)
            raise Overloaded(
                f"Uploads in progress use {self._charged:,} bytes of memory; the limit is "
                f"{self._total:,}. Try again later."
            )
        self._charged += size
        self._charged_by[project] = already + size

    def _release(self, project: int, size: int) -> None:
        self._charged -= size
        left = self._charged_by.get(project, 0) - size
        if left > 0:
            self._charged_by[project] = left
        else:
            self._charged_by.pop(project, None)


uploads = UploadBudget()
