"""Worker processes that convert files and messages of other profilers to pprof.

Converters compute in Python, on bytes of strangers: in a thread they would delay all requests of
the process, and nothing could stop them. pprof itself is decoded by compiled code without the GIL,
whose work is counted before it is done (decode_pool.py).
"""

from collections.abc import Callable
from typing import TypeVar

from django.conf import settings

from common.cores import count_cores
from common.worker_processes.messages import JobLimits
from common.worker_processes.pool import WorkerPool
from common.worker_processes.program import WorkerProgram
from common.worker_processes.workers import JobCrashed, LimitExceeded, Outcome
from endpoints.errors import BadField, BadRequest
from ingest.formats.detect import ConvertedFile, FileFormat
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.otlp.revision import Revision
from ingest.formats.pyroscope.pprof import Conversion
from ingest.uploads import decode_workers
from profiles.engine.errors import BadProfile, TooLarge
from projects.profile_types import ProfileType
from projects.usage import rejections
from projects.usage.rejections import RejectionReason

# More than cores: three projects with files that take half a minute leave one for all others. Two
# start with the server, the others when they are needed.
WORKERS = max(4, min(8, count_cores()))
# With the body, at most 16 MiB by default, the memory that a project's uploads may use.
MAX_RESULT_BYTES = 48 * 2**20
# A tenth of the CPU time of a thread of the server, where both want a core.
NICE = 10
_PROGRAM = WorkerProgram(
    preload=("ingest.uploads.decode_worker_start",),
    classes=(
        *(BadField, BadProfile, BadRequest, TooLarge),
        *(Conversion, ConvertedFile, FileFormat, ImportedProfile, ProfileType, Revision),
    ),
    nice=NICE,
    name="convert-worker",
    is_forked=True,
)
pool = WorkerPool("conversion", _PROGRAM, WORKERS, forked_with=decode_workers.workers)

T = TypeVar("T")


async def convert(project: int, function: Callable[..., T], *args: object) -> T:
    """Call a function of the program's modules in a worker process; return its result.

    Raise BadProfile, TooLarge, BadField or BadRequest, of the function or because it exceeds a
    limit of a conversion; WorkerLost or JobFailed if the server is the reason.
    """
    limits = JobLimits(
        cpu_seconds=settings.CONVERSION_CPU_SECONDS,
        wall_seconds=settings.CONVERSION_WALL_SECONDS,
        memory_bytes=settings.CONVERSION_MEMORY_BYTES,
        result_bytes=MAX_RESULT_BYTES,
    )
    try:
        return await pool.run(("project", project), limits, function, *args)
    except LimitExceeded as error:
        rejected: BadProfile | TooLarge = _too_large(error)
    except JobCrashed:
        rejected = BadProfile(
            "The file crashes the program that converts it. Please report it, with the file if it "
            "may be shown to others."
        )
    rejections.note(project, RejectionReason.CONVERSION)
    del args
    raise rejected


def _too_large(error: LimitExceeded) -> TooLarge:
    """Return an error with the name and the value of the limit."""
    setting, allowed, unit = {
        Outcome.CPU_LIMIT: ("CPU_SECONDS", error.limits.cpu_seconds, "s of CPU time"),
        Outcome.WALL_LIMIT: ("WALL_SECONDS", error.limits.wall_seconds, "s"),
        Outcome.MEMORY_LIMIT: ("MEMORY_BYTES", error.limits.memory_bytes, "bytes of memory"),
        Outcome.RESULT_LIMIT: ("", error.limits.result_bytes, "bytes of converted profiles"),
    }[error.outcome]
    limit = f"FLAMEWATCH_CONVERSION_{setting}" if setting else "A conversion"
    return TooLarge(limit, int(allowed), int(allowed), unit)
