"""Bound the memory used by the bodies of uploads, in total and for each project.

Bytes are charged when they arrive, not when a request declares them in Content-Length: a
declaration costs the client nothing, and twelve large ones would lock out all other clients.
"""

from types import TracebackType
from typing import Self

from endpoints.errors import Overloaded
from projects.usage import rejections
from projects.usage.rejections import RejectionReason

TOTAL_BYTES = 256 * 2**20
# Two uploads of the largest size, unpacked from their Content-Encoding, and many of usual size.
PROJECT_BYTES = 64 * 2**20


class UploadBudget:
    """Bytes in memory by project. Not thread-safe: use from one event loop only."""

    def __init__(self, total: int = TOTAL_BYTES, per_project: int = PROJECT_BYTES) -> None:
        self._total, self._per_project = total, per_project
        self._charged = 0
        self._charged_by: dict[int, int] = {}

    def account(self, project: int) -> "UploadAccount":
        return UploadAccount(self, project)

    def charge(self, project: int, size: int) -> None:
        """Raise Overloaded if the project, or all together, would exceed the budget."""
        already = self._charged_by.get(project, 0)
        if already + size > self._per_project:
            rejections.note(project, RejectionReason.UPLOAD_MEMORY)
            raise Overloaded(
                f"Uploads of this project in progress use {already:,} bytes of memory; the limit "
                f"of a project is {self._per_project:,}. Try again later."
            )
        if self._charged + size > self._total:
            rejections.note(project, RejectionReason.SERVER_BUSY)
            raise Overloaded(
                f"Uploads in progress use {self._charged:,} bytes of memory; the limit is "
                f"{self._total:,}. Try again later."
            )
        self._charged += size
        self._charged_by[project] = already + size

    def release(self, project: int, size: int) -> None:
        self._charged -= size
        left = self._charged_by.get(project, 0) - size
        if left > 0:
            self._charged_by[project] = left
        else:
            self._charged_by.pop(project, None)


class UploadAccount:
    """Bytes that one upload has charged to its project; the end of the context releases them."""

    __slots__ = ("_budget", "_charged", "project")

    def __init__(self, budget: UploadBudget, project: int) -> None:
        self._budget = budget
        self._charged = 0
        self.project = project  # Project.pk

    def charge(self, size: int) -> None:
        """Charge bytes that have arrived, or that the upload needs beside them.

        Raise Overloaded, see UploadBudget.charge.
        """
        self._budget.charge(self.project, size)
        self._charged += size

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._budget.release(self.project, self._charged)


process_budget = UploadBudget()
