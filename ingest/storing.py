"""What every door does with the bytes of a profile: admit, digest, store."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ingest import digesting, refusals
from ingest.digesting import Packed
from ingest.errors import BadField, BadRequest, BodyTooLarge, TooManyLabelValues
from ingest.self_report import self_report
from profiles.engine.errors import BadProfile, TooLarge
from profiles.store import again, head
from profiles.store.head import Conflict, NewProfile
from projects import agent_reports, quotas, registry, sync_pool
from projects.profile_types import ProfileType
from projects.quota_reached import QuotaReached

_OF_THE_UPLOAD = (
    *(BadField, BadRequest, BadProfile, BodyTooLarge, Conflict, QuotaReached, TooLarge),
    TooManyLabelValues,
)


async def take(
    project: int, type: ProfileType, body: bytes, make_row: Callable[[Packed], NewProfile]
) -> NewProfile:
    """The row that `make_row` makes of the digest, durable and visible when this returns.

    What fails, or was there already, does not count against the project's quotas.
    """
    admission = await quotas.admit_profile(project, len(body))
    try:
        packed = await digesting.pack(body, type)
        new = make_row(packed)
        stored = await _store(new)
    except Exception:
        await quotas.release(admission)
        raise
    if stored:
        registry.note_profiled(new.deployment, type)
        if new.agent is not None:
            agent_reports.note_profile(new.agent, type, self_report(packed.comments))
    else:
        await quotas.release(admission)
    return new


@contextmanager
def refusals_noted(agent: int) -> Iterator[None]:
    """What an agent sends and is refused stands on the page of agents; our own trouble does not."""
    try:
        yield
    except _OF_THE_UPLOAD as error:
        found = refusals.refusal(error)
        agent_reports.note_refusal(agent, f"{found.status}: {found.message}")
        raise


async def _store(new: NewProfile) -> bool:
    """As head.store, and False too for what has left the head since it came."""
    if again.may_be_in_a_block(new) and await sync_pool.run(again.is_in_a_block, new):
        return False
    return await head.store(new)
