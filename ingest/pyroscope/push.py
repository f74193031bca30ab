"""`push.v1.PusherService/Push`: profiles of several series, in the unary Connect protocol."""

from collections.abc import Callable, Mapping
from functools import partial

from django.conf import settings

from endpoints.errors import BadField, TooManyLabelValues
from ingest.formats.pyroscope.pprof import PprofContext
from ingest.pyroscope.conversion import convert_pprof
from ingest.pyroscope.ingest import authenticate
from ingest.pyroscope.labels import map_pyroscope_labels
from ingest.pyroscope.push_message import PushedProfile, read_json, read_protobuf
from ingest.pyroscope.storing import StatedTimes, store_profiles
from ingest.uploads import decode_pool
from ingest.uploads.requests import UploadRequest, json_bytes, read_body
from ingest.uploads.upload_budget import process_budget
from profiles.engine.errors import BadProfile, TooLarge
from profiles.storage.head import Unstorable
from projects.credentials.allowed_services import ServiceNotAllowed
from projects.credentials.authentication import Access

Reader = Callable[[bytes], list[PushedProfile]]
PROTOBUF, JSON = "application/proto", "application/json"
READERS: Mapping[str, Reader] = {PROTOBUF: read_protobuf, JSON: read_json}
# Errors of one profile, which say nothing about the others.
_OF_PROFILE = (BadField, BadProfile, TooLarge, Unstorable)


async def push(request: UploadRequest, read: Reader) -> None:
    """Store all profiles of a request, except for those that are invalid.

    Raise BadField, with the path of the first invalid profile, after the others are stored.
    """
    access = await authenticate(request)
    allowed = json_bytes() if read is read_json else int(settings.MAX_UPLOAD_BYTES)
    with process_budget.account(access.project) as account:
        body = await read_body(request, account, allowed)
        account.charge(len(body))  # the profiles in it
        pushed = await decode_pool.run(access.project, partial(read, body), len(body))
        del body
        rejected: Exception | None = None
        for profile in pushed:
            try:
                await _store(request, access, profile)
            except _OF_PROFILE as error:
                rejected = rejected or BadField(profile.field, str(error))
            except (ServiceNotAllowed, TooManyLabelValues) as error:
                rejected = rejected or error
    if rejected:
        raise rejected


async def _store(request: UploadRequest, access: Access, pushed: PushedProfile) -> None:
    labels = pushed.labels
    profile = labels.get("__name__", "")
    may_be_cumulative = profile == "memory" and labels.get("__delta__") != "false"
    context = PprofContext(profile=profile, may_be_cumulative=may_be_cumulative)
    conversion = await convert_pprof(access.project, pushed.pprof, context)
    mapped = map_pyroscope_labels(labels, conversion)
    await store_profiles(request, access, conversion, mapped, StatedTimes())
