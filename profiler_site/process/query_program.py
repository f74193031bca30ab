"""Program of the worker processes of queries: its modules, and the classes in their replies."""

from django.conf import settings
from django.db import (
    DatabaseError,
    IntegrityError,
    InterfaceError,
    InternalError,
    OperationalError,
)

from api.response import Body
from common.database_pool import DatabasePoolFull
from common.worker_processes.program import WorkerProgram
from endpoints import errors
from endpoints.params.reader import BadParameter
from frontend.http.thread_response import ResponseHead
from profiles.engine.errors import BadProfile, TooLarge
from profiles.queries.cache import PRIVATE_BLOCK_BYTES
from profiles.queries.query_record import QueryFacts, QueryStatus
from profiles.query import (
    DeadlinePassed,
    InvalidQuery,
    MetricNotFound,
    NothingToStore,
    SavedTreeNotFound,
    SavedTreeUnreadable,
)

# Half of the CPU time of a thread of the server, where both want a core: uploads come first.
# Queries of a project that has cost much lately get a tenth, a fifth of that of other queries.
_NICE = 3
COSTLY_NICE = 10
# What allocators keep after a large query, beyond the caches.
_GROWTH_BYTES = 64 * 2**20


def query_program() -> WorkerProgram:
    return WorkerProgram(
        preload=("profiler_site.process.query_worker",),
        classes=(
            *(Body, QueryFacts, QueryStatus, ResponseHead),
            *(DeadlinePassed, InvalidQuery, MetricNotFound, NothingToStore),
            *(SavedTreeNotFound, SavedTreeUnreadable, BadProfile, TooLarge, BadParameter),
            *(errors.BadField, errors.BadRequest, errors.NotFound),
            *(DatabaseError, IntegrityError, InterfaceError, InternalError, OperationalError),
            DatabasePoolFull,
        ),
        nice=_NICE,
        costly_nice=COSTLY_NICE,
        name="query-worker",
        max_growth_bytes=PRIVATE_BLOCK_BYTES + settings.RESULT_CACHE_BYTES + _GROWTH_BYTES,
        inherits_environment=True,
        is_forked=True,
        preload_in_worker=("profiler_site.process.query_worker_start",),
    )
