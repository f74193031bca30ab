"""Program of the worker process of compaction: the classes in its replies.

It is forked by the process that forks the workers of queries, and reads the database like them.
"""

from django.db import (
    DatabaseError,
    IntegrityError,
    InterfaceError,
    InternalError,
    OperationalError,
)

from common.database_pool import DatabasePoolFull
from common.worker_processes.program import WorkerProgram
from profiler_site.process import query_program
from profiles.storage.blobs import BlobDeadlinePassed, BlobMissing, BlobUnavailable

# Queries, which have a lower priority than the server, come before compaction.
_NICE = query_program.COSTLY_NICE + 5
# Forking another one takes 10 ms: an idle worker should be small.
_GROWTH_BYTES = 8 * 2**20


def compaction_program() -> WorkerProgram:
    return WorkerProgram(
        preload=("profiler_site.process.query_worker", "profiles.compaction.build_workers"),
        classes=(
            *(BlobDeadlinePassed, BlobMissing, BlobUnavailable, DatabasePoolFull),
            *(DatabaseError, IntegrityError, InterfaceError, InternalError, OperationalError),
        ),
        nice=_NICE,
        name="build-worker",
        max_growth_bytes=_GROWTH_BYTES,
        inherits_environment=True,
        is_forked=True,
    )
