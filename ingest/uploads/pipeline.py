"""Upload pipeline of all ingest endpoints: check limits, decode, store."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from common.repeated_log import repeated_log
from endpoints import error_responses
from endpoints.errors import BadField, BadRequest, BodyTooLarge, TooManyLabelValues
from ingest import deployments
from ingest.deployments import Target
from ingest.formats.imported_profile import ImportedProfile
from ingest.uploads import decode_pool, label_values
from ingest.uploads.decode_job import decode_body
from ingest.uploads.decode_pool import NeedsWorker
from ingest.uploads.upload import OfflineUpload, Upload
from profiles.engine.errors import BadProfile, TooLarge
from profiles.storage import disk, head
from profiles.storage.head import Conflict, NewProfile, Unstorable
from profiles.storage.upload_future import UploadFuture, complete
from projects.credentials.authentication import Access
from projects.registration import agent_reports, registry
from projects.registration.agent_reports import SelfReport
from projects.registration.registry import AgentSeen, DeploymentKey
from projects.usage import limits, quotas
from projects.usage.quota_reached import QuotaReached

log = logging.getLogger(__name__)

_UPLOAD_ERRORS = (
    *(BadField, BadRequest, BadProfile, BodyTooLarge, Conflict, QuotaReached, TooLarge),
    *(TooManyLabelValues, Unstorable),
)
_COMMENT_PREFIX = "flamewatch."
_MAX_REPORTED = 2**53  # far above any count that an agent reaches in one profile
_NO_REPORT = SelfReport()


class StoredUpload(NamedTuple):
    target: Target
    profile: NewProfile
    warnings: tuple[str, ...]  # sentences about data that was left out


async def store_import(
    access: Access,
    agent: AgentSeen,
    deployment: DeploymentKey,
    labels: Mapping[str, str],
    profile: ImportedProfile,
) -> StoredUpload:
    """Register a deployment and an agent, and store a profile of them.

    The caller has charged the bytes to the budget of uploads. Raise what store_upload raises, and
    QuotaReached for a new deployment over quota.
    """
    registered = await registry.seen(access, deployment, agent)
    target = await deployments.get_target(access.project, registered.deployment)
    upload = OfflineUpload(
        target=target,
        agent=registered.agent,
        type=profile.type,
        pprof=profile.pprof,
        labels=dict(labels),
        duration_ns=profile.duration_ns,
        sample_types=profile.sample_types,
        warnings=profile.warnings,
        start_ns=profile.start_ns,
        ends_at_pprof_time=profile.ends_at_pprof_time,
        retention=timedelta(days=(await limits.find_limits(access.project)).retention_days),
    )
    with report_rejections(target, registered.agent, agent.hostname):
        return await store_upload(upload)


async def store_upload(upload: Upload) -> StoredUpload:
    """Decode and store a profile; one that is stored already is returned under its first name.

    The row is durable and visible to queries on return. Uploads that fail, and profiles that are
    already stored, do not count against the project's quotas. Raise TooManyLabelValues,
    QuotaReached, BadField, DiskFull, and what decode_pool.decode and profiles.storage.head raise.
    """
    target = upload.target
    label_values.count(target.project, upload.labels)
    disk.require_room()
    admission = await quotas.admit_profile(target.project, len(upload.pprof))
    job = _UploadJob(upload)
    try:
        outcome = await job.run()
    except Exception as error:
        decode_pool.note_rejection(target.project, error)
        await quotas.release(admission)
        raise
    new = job.new
    if outcome is True:
        registry.note_profiled(new.deployment, upload.type)
        if new.agent is not None:
            report = parse_self_report(job.comments)
            agent_reports.note_profile(new.agent, upload.type, report)
            if job.warnings:
                agent_reports.note_warning(new.agent, " ".join(job.warnings))
    else:
        await quotas.release(admission)
    return StoredUpload(target, new, (*upload.warnings, *job.warnings))


class _UploadJob:
    """Upload that is decoded in a thread or worker process and stored by the head's writer thread.

    The thread, which may have waited for a worker, hands the row directly to the writer; the event
    loop is woken only at the end, because each wake-up of one thread by another costs CPU time.
    """

    new: NewProfile
    comments: tuple[str, ...]  # of the pprof
    warnings: tuple[str, ...]  # of decoding

    def __init__(self, upload: Upload) -> None:
        self._upload = upload
        self._future = UploadFuture()

    async def run(self) -> bool:
        """Decode and store the profile, and return what profiles.storage.head.store returns.

        Raise what decoding raises, and what profiles.storage.head.store raises.
        """
        self._start(in_worker=decode_pool.needs_worker(self._upload.pprof))
        return await head.wait_until_stored(self._future)

    def _start(self, *, in_worker: bool) -> None:
        if not in_worker:
            head.expect(self._future)
        job = partial(self._decode, in_worker)
        decode_pool.start(self._upload.target.project, job, in_worker=in_worker)

    def _decode(self, in_worker: bool) -> None:
        """Unpack and decode the profile, and pass its row to the head's writer."""
        try:
            self._decode_and_enter(in_worker)
        except NeedsWorker:
            self._start(in_worker=True)
        except Exception as error:
            complete([(self._future, _drop_frames(error))])
        finally:
            head.withdraw(self._future)

    def _decode_and_enter(self, in_worker: bool) -> None:
        if self._future.is_done:
            return
        upload = self._upload
        decoded = decode_pool.decode(
            upload.target.project,
            decode_body,
            upload.pprof,
            upload.type,
            upload.sample_types,
            in_worker=in_worker,
            is_cancelled=lambda: self._future.is_done,
        )
        self.comments, self.warnings = decoded.comments, decoded.warnings
        self.new = upload.build_row(decoded)
        head.enter(self.new, self._future)


def _drop_frames(error: Exception) -> Exception:
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


def parse_self_report(comments: Sequence[str]) -> SelfReport:
    """Parse the comments of a profile; missing and non-numeric values stay unset."""
    if not comments:  # the usual case: most agents send no comments
        return _NO_REPORT
    values = dict(
        comment.removeprefix(_COMMENT_PREFIX).split("=", 1)
        for comment in comments
        if comment.startswith(_COMMENT_PREFIX) and "=" in comment
    )
    cpu = [_parse_count(values, name) for name in ("agent_cpu_ns", "sampler_cpu_ns")]
    cpu_times = [ns for ns in cpu if ns is not None]
    return SelfReport(
        sampler="".join(
            letter for letter in values.get("sampler", "")[:32] if letter.isprintable()
        ),
        samples=_parse_count(values, "samples") or 0,
        dropped=_parse_count(values, "samples_dropped"),
        cpu_ns=sum(cpu_times) if cpu_times else None,
        memory_bytes=_parse_count(values, "agent_memory_bytes"),
    )


def _parse_count(values: Mapping[str, str], name: str) -> int | None:
    text = values.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 16):
        return None
    return min(int(text), _MAX_REPORTED)
