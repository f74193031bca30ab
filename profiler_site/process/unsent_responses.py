"""Responses that clients do not read: their bytes by tenant, within a budget.

The transport keeps what the kernel does not take, for as long as the connection is open. Clients
that request large results and read nothing would otherwise fill the memory.
"""

from collections.abc import Hashable
from dataclasses import dataclass

from profiler_site.process.connection_limits import Abortable
from projects.usage import rejections
from projects.usage.rejections import RejectionReason

# As for uploads in flight.
TOTAL_BYTES = 256 * 2**20
TENANT_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class _Response:
    tenant: Hashable
    size: int  # unsent bytes when the client fell behind


class UnsentResponses:
    """Connections with unsent bytes. Not thread-safe: use from one event loop only."""

    def __init__(self, total: int = TOTAL_BYTES, of_tenant: int = TENANT_BYTES) -> None:
        self._total, self._of_tenant = total, of_tenant
        self._responses: dict[Abortable, _Response] = {}  # oldest first

    def __len__(self) -> int:
        return len(self._responses)

    def add(self, connection: Abortable, tenant: Hashable, size: int) -> None:
        """Register a connection with `size` unsent bytes, and abort others above the budgets.

        These are the oldest ones of the same tenant, or of the tenant with the most bytes if all
        tenants together exceed their budget; never the new one.
        """
        self._responses[connection] = _Response(tenant, size)
        while self._sum_bytes(tenant) > self._of_tenant and self._abort_oldest(tenant, connection):
            pass
        while sum(each.size for each in self._responses.values()) > self._total:
            tenants = {each.tenant for each in self._responses.values()}
            if not self._abort_oldest(max(tenants, key=self._sum_bytes), connection):
                break

    def remove(self, connection: Abortable) -> None:
        """Remove a connection whose bytes are sent, or that is closed."""
        self._responses.pop(connection, None)

    def abort(self, connection: Abortable) -> None:
        """Abort a registered connection, and count a rejected request of its project."""
        response = self._responses.pop(connection)
        match response.tenant:
            case ("project", int(project)):
                rejections.note(project, RejectionReason.UNREAD_RESPONSES)
            case _:
                rejections.note(None, RejectionReason.UNREAD_RESPONSES)
        connection.abort()

    def _sum_bytes(self, tenant: Hashable) -> int:
        return sum(each.size for each in self._responses.values() if each.tenant == tenant)

    def _abort_oldest(self, tenant: Hashable, new: Abortable) -> bool:
        """Abort the oldest connection of a tenant except the new one; False if there is none."""
        of_tenant = (
            connection
            for connection, response in self._responses.items()
            if response.tenant == tenant and connection is not new
        )
        oldest = next(of_tenant, None)
        if oldest is None:
            return False
        self.abort(oldest)
        return True
