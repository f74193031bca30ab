"""Upload pipeline of all ingest endpoints: check quotas, decode, store."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from django.conf import settings

from common.repeated_log import repeated_log
from endpoints import error_responses
from endpoints.errors import BadField, BadRequest, BodyTooLarge, TooManyLabelValues
from ingest.deployments import Target
from ingest.uploads import decode_pool, decoding
from ingest.uploads.decoding import DecodedUpload, self_report
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.gunzip import claimed_size, gunzip
from profiles.storage import disk, head
from profiles.storage.head import Conflict, NewProfile, Unstorable
from profiles.storage.new_profile import Copy
from profiles.storage.upload_future import UploadFuture, complete
from projects.profile_types import ProfileType
from projects.registration import agent_reports, registry
from projects.usage import quotas
from projects.usage.quota_reached import QuotaReached

log = logging.getLogger(__name__)

_UPLOAD_ERRORS = (
    *(BadField, BadRequest, BadProfile, BodyTooLarge, Conflict, QuotaReached, TooLarge),
    *(TooManyLabelValues, Unstorable),
)


class Stored(NamedTuple):
    profile: NewProfile
    warnings: tuple[str, ...]  # descriptions of what was left out of the upload


async def store_upload(
    project: int,
    type: ProfileType,
    body: bytes,
    make_row: Callable[[DecodedUpload], NewProfile],
    sample_types: Sequence[str] = (),
) -> Stored:
    """Store the profile that `make_row` builds from the decoded upload.

    `sample_types` has the names of the sample types to store; empty: all.
    The row is durable and visible to queries on return. Uploads that fail, and profiles that are
    already stored, do not count against the project's quotas.
    """
    disk.require_room()
    admission = await quotas.admit_profile(project, len(body))
    upload = _Upload(project, type, body, make_row, sample_types)
    try:
        outcome = await upload.stored()
    except Exception:
        await quotas.release(admission)
        raise
    new = upload.new
    if outcome is True:
        registry.note_profiled(new.deployment, type)
        if new.agent is not None:
            agent_reports.note_profile(new.agent, type, self_report(upload.packed.comments))
            if upload.packed.warnings:
                agent_reports.note_warning(new.agent, " ".join(upload.packed.warnings))
    else:
        await quotas.release(admission)
    if isinstance(outcome, Copy):
        new = replace(new, name_id=outcome.name_id)
    return Stored(new, upload.packed.warnings)


class _Upload:
    """An upload that is decoded in a thread and stored by the head's writer thread.

    The decode thread hands the row directly to the writer; the event loop is woken only at the end,
    because each wake-up of one thread by another costs CPU time.
    """

    packed: DecodedUpload
    new: NewProfile

    def __init__(
        self,
        project: int,
        type: ProfileType,
        body: bytes,
        make_row: Callable[[DecodedUpload], NewProfile],
        sample_types: Sequence[str] = (),
    ) -> None:
        self._project, self._type, self._body, self._make_row = project, type, body, make_row
        self._sample_types = sample_types
        self._awaited = UploadFuture()

    async def stored(self) -> bool | Copy:
        """Decode and store the profile, and return what profiles.storage.head.store returns.

        Raise what decoding raises, and what profiles.storage.head.store raises.
        """
        large = decode_pool.is_large(len(self._body), claimed_size(self._body))
        decode_pool.start(self._project, partial(self._decode, large), large=large)
        return await head.stored(self._awaited)

    def _decode(self, is_large: bool) -> None:
        """Gunzip and decode the profile.

        A gzip that unpacks to more than it claims starts again in the thread for large profiles:
        waiting there, it must not hold its unpacked bytes.
        """
        if self._awaited.is_done:
            return
        allowed = int(settings.MAX_PROFILE_BYTES)
        small = min(allowed, decode_pool.LARGE_RAW_BYTES)
        try:
            raw = gunzip(self._body, allowed if is_large else small)
        except TooLarge as error:
            if is_large or allowed == small:
                complete([(self._awaited, _without_frames(error))])
            else:
                job = partial(self._decode, is_large=True)
                decode_pool.start(self._project, job, large=True)
        except Exception as error:
            complete([(self._awaited, _without_frames(error))])
        else:
            self._enter(raw)

    def _enter(self, raw: bytes) -> None:
        try:
            self.packed = decoding.decode_upload(self._body, raw, self._type, self._sample_types)
            self.new = self._make_row(self.packed)
            head.enter(self.new, self._awaited)
        except Exception as error:
            complete([(self._awaited, _without_frames(error))])


def _without_frames(error: Exception) -> Exception:
    """Drop the traceback of an error that the upload caused.

    Its frames hold the decompressed profile, in a reference cycle with the future that gets the
    error: seven rejected uploads of 120 MiB each would stay in memory until a garbage collection.
    """
    if isinstance(error, BadProfile | TooLarge):
        error.__context__ = error.__cause__ = None
        return error.with_traceback(None)
    return error


@contextmanager
def report_rejections(target: Target, agent: int | None, host: str = "") -> Iterator[None]:
    """Log errors of an agent's uploads, and show them on the agents page.

    Failures of the server are left out. The log has one line a minute for each deployment and
    status.
    """
    try:
        yield
    except _UPLOAD_ERRORS as error:
        response = error_responses.error_response(error)
        repeated_log.warn(
            log,
            "Upload rejected with %d: project %s, service %s, agent %s: %s",
            *(response.status, target.project_id, target.service),
            *(host or ("not stored" if agent is None else f"{agent}"), response.message),
            key=f"{target.deployment} {response.status}",
        )
        if agent is not None:
            agent_reports.note_rejection(agent, f"{response.status}: {response.message}")
        raise
