"""What every door does with the bytes of a profile: admit, digest, store."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from django.conf import settings

from ingest import digesting, pool, refusals
from ingest.digesting import Packed
from ingest.errors import BadField, BadRequest, BodyTooLarge, TooManyLabelValues
from ingest.self_report import self_report
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.unpack import unpack
from profiles.store import again, disk, head
from profiles.store.awaited import Awaited, tell
from profiles.store.head import Conflict, NewProfile, Unstorable
from projects import agent_reports, quotas, registry, sync_pool
from projects.profile_types import ProfileType
from projects.quota_reached import QuotaReached

_OF_THE_UPLOAD = (
    *(BadField, BadRequest, BadProfile, BodyTooLarge, Conflict, QuotaReached, TooLarge),
    *(TooManyLabelValues, Unstorable),
)


class Stored(NamedTuple):
    profile: NewProfile
    warnings: tuple[str, ...]  # what of the upload was left out


async def take(
    project: int, type: ProfileType, body: bytes, make_row: Callable[[Packed], NewProfile]
) -> Stored:
    """The row that `make_row` makes of the digest, durable and visible when this returns.

    What fails, or was there already, does not count against the project's quotas.
    """
    disk.require_room()
    admission = await quotas.admit_profile(project, len(body))
    upload = _Upload(type, body, make_row)
    try:
        stored = await upload.stored()
    except Exception:
        await quotas.release(admission)
        raise
    new = upload.new
    if stored:
        registry.note_profiled(new.deployment, type)
        if new.agent is not None:
            agent_reports.note_profile(new.agent, type, self_report(upload.packed.comments))
            if upload.packed.warnings:
                agent_reports.note_warning(new.agent, " ".join(upload.packed.warnings))
    else:
        await quotas.release(admission)
    return Stored(new, upload.packed.warnings)


class _Upload:
    """A profile on its way from the event loop to a thread that digests it, on to the writer of
    the head, and only then back: each time that a thread wakes another costs CPU time."""

    packed: Packed
    new: NewProfile

    def __init__(
        self, type: ProfileType, body: bytes, make_row: Callable[[Packed], NewProfile]
    ) -> None:
        self._type, self._body, self._make_row = type, body, make_row
        self._awaited = Awaited()

    async def stored(self) -> bool:
        """As head.store, and False too for what has left the head since it came."""
        pool.submit(self._digest, len(self._body))
        outcome = await self._awaited.result()
        if outcome is None:
            return not await sync_pool.run(again.is_stored, self.new) and (
                await head.store(self.new)
            )
        return outcome

    def _digest(self, is_large: bool = False) -> None:
        """A few bytes may unpack to many: these go to the thread of large profiles, too."""
        if self._awaited.is_over:
            return
        allowed = int(settings.MAX_PROFILE_BYTES)
        try:
            raw = unpack(self._body, allowed if is_large else min(allowed, pool.LARGE_RAW_BYTES))
        except TooLarge as error:
            if is_large or allowed <= pool.LARGE_RAW_BYTES:
                tell([(self._awaited, error)])
            else:
                pool.submit_large(partial(self._digest, is_large=True))
        except Exception as error:
            tell([(self._awaited, error)])
        else:
            self._enter(raw)

    def _enter(self, raw: bytes) -> None:
        try:
            self.packed = digesting.pack(self._body, raw, self._type)
            self.new = self._make_row(self.packed)
            if again.may_be_in_a_block(self.new):
                tell([(self._awaited, None)])
            else:
                head.enter(self.new, self._awaited)
        except Exception as error:
            tell([(self._awaited, error)])


@contextmanager
def refusals_noted(agent: int) -> Iterator[None]:
    """What an agent sends and is refused stands on the page of agents; our own trouble does not."""
    try:
        yield
    except _OF_THE_UPLOAD as error:
        found = refusals.refusal(error)
        agent_reports.note_refusal(agent, f"{found.status}: {found.message}")
        raise
