"""Worker processes that decode large and costly profiles (see decode_pool.py).

Compiled code decodes pprof. A mistake in it, or a profile that takes more memory or time than
anybody thought of, ends a worker instead of the server, and of the server's memory they use none.
These workers are apart from those of queries and conversions: none of these waits for another.
"""

from collections.abc import Callable
from typing import TypeVar, cast

from django.conf import settings

from common.worker_processes.messages import JobLimits, JobRequest
from common.worker_processes.program import WorkerProgram
from common.worker_processes.workers import (
    JobCrashed,
    LimitExceeded,
    Outcome,
    Workers,
    unwrap,
)
from endpoints.errors import Overloaded
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.pyroscope.pprof import Conversion
from ingest.uploads.decode_job import BodyLimits, DecodedUpload
from profiles.engine.errors import BadProfile, TooLarge
from profiles.storage.profile_content import ProfileContent
from projects.profile_types import ProfileType

# Half the CPU time of the server's threads, where both want a core: small uploads and parked agents
# come first, then large uploads, then queries and conversions (10).
NICE = 3
# Twice FLAMEWATCH_MAX_PROFILE_BYTES, by default: the strings and numbers of a tree are bounded by
# the limits of decoding.
MAX_RESULT_BYTES = 256 * 2**20
# A heap profile of 0.7 MB takes 8 MB: giving them back after each one costs a tenth of its CPU
# time.
# An idle worker returns them, see Workers.release_idle.
_GROWTH_BYTES = 64 * 2**20
_PROGRAM = WorkerProgram(
    preload=("ingest.uploads.decode_worker_start",),
    classes=(
        *(BadProfile, TooLarge),
        *(Conversion, DecodedUpload, ImportedProfile, ProfileContent, ProfileType),
    ),
    nice=NICE,
    name="decode-worker",
    max_growth_bytes=_GROWTH_BYTES,
    is_forked=True,
)
# The first one starts with the server, the others when they are needed.
workers = Workers("decode", _PROGRAM, at_start=1)

T = TypeVar("T")


class DecodingRejected(BadProfile):
    """Profile that exceeds a limit of its worker process, or crashes it; for good."""


def decode(
    project: int,
    function: Callable[..., T],
    body: bytes,
    limits: BodyLimits,
    *args: object,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> T:
    """Call a function of decode_job.py in a worker process and return its result.

    Call it in a thread of decode_pool.py. Raise BadProfile, TooLarge or DecodingRejected; and
    Overloaded, WorkerLost or JobFailed if the server is the reason.
    """
    job_limits = JobLimits(
        cpu_seconds=settings.DECODE_CPU_SECONDS,
        wall_seconds=settings.DECODE_WALL_SECONDS,
        memory_bytes=settings.DECODE_MEMORY_BYTES,
        result_bytes=MAX_RESULT_BYTES,
    )
    request = JobRequest(function, (body, limits, *args), job_limits)
    result = workers.perform_charged(("project", project), request, is_cancelled=is_cancelled)
    try:
        return cast("T", unwrap(result, job_limits))
    except LimitExceeded as exceeded:
        raise _explain(exceeded) from None
    except JobCrashed:
        raise DecodingRejected(
            "The profile crashes the program that decodes it. Please report it, with the profile "
            "if it may be shown to others."
        ) from None


def _explain(exceeded: LimitExceeded) -> Exception:
    """Return an error with the name and the value of the limit."""
    limits = exceeded.limits
    match exceeded.outcome:
        case Outcome.WALL_LIMIT:
            return Overloaded(
                f"FLAMEWATCH_DECODE_WALL_SECONDS allows {limits.wall_seconds:g} s to decode a "
                "profile, and the server was too busy. Try again later."
            )
        case Outcome.CPU_LIMIT:
            limit = f"FLAMEWATCH_DECODE_CPU_SECONDS allows {limits.cpu_seconds:g} s of CPU time"
        case Outcome.MEMORY_LIMIT:
            limit = f"FLAMEWATCH_DECODE_MEMORY_BYTES allows {limits.memory_bytes:,} bytes of memory"
        case _:
            limit = f"The server allows a result of {limits.result_bytes:,} bytes"
    return DecodingRejected(f"{limit} to decode a profile, and this one needs more.")
