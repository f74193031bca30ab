"""Convert protobuf messages of the API to the JSON messages that wire.py validates, and back."""

from collections.abc import Mapping

from google.protobuf.json_format import ParseDict
from google.protobuf.message import DecodeError, Message

from endpoints import json_message
from endpoints.errors import BadField, BadRequest
from ingest.cloud_profiler import upload_message, wire
from ingest.cloud_profiler.proto import profiler_pb2
from ingest.cloud_profiler.responses import ProfileJson
from ingest.cloud_profiler.upload_message import UploadMessage
from ingest.cloud_profiler.wire import OfflineProfile, SentProfile

# As for REST, where a handshake is the whole body.
MAX_MESSAGE_BYTES = 64 * 2**10
_OFFLINE_PROFILE, _UPDATED_PROFILE = 2, 1  # field numbers


def create_profile_request(body: bytes) -> tuple[str, json_message.Message]:
    """Return the project and the JSON form of a CreateProfileRequest."""
    request = profiler_pb2.CreateProfileRequest()
    _parse_small(request, body)
    message: json_message.Message = {"profileType": list(request.profile_type)}
    if request.HasField("deployment"):
        message["deployment"] = _deployment(request.deployment)
    return _project(request.parent), message


def list_profiles_request(body: bytes) -> tuple[str, dict[str, str]]:
    """Return the project and the query parameters of a ListProfilesRequest."""
    request = profiler_pb2.ListProfilesRequest()
    _parse_small(request, body)
    query = {"pageSize": str(request.page_size), "pageToken": request.page_token}
    return _project(request.parent), query


def parse_offline_upload(body: bytes) -> tuple[str, UploadMessage]:
    """Return the project of a CreateOfflineProfileRequest, and its parts."""
    parts = upload_message.split(body, _OFFLINE_PROFILE)
    request = profiler_pb2.CreateOfflineProfileRequest()
    _parse(request, parts.rest)
    return _project(request.parent), parts


def parse_update(body: bytes) -> tuple[str, str, UploadMessage]:
    """Return the project and the id of the profile of an UpdateProfileRequest, and its parts."""
    parts = upload_message.split(body, _UPDATED_PROFILE)
    name = _profile(parts).name
    match name.split("/"):
        case ["projects", project, "profiles", name_id]:
            return project, name_id, parts
    raise BadField("profile.name", "must be projects/PROJECT/profiles/ID, from CreateProfile")


def parse_sent_profile(parts: UploadMessage) -> SentProfile:
    return wire.build_sent_profile(parts.profile_bytes, _fields(_profile(parts)))


def parse_offline_profile(parts: UploadMessage) -> OfflineProfile:
    profile = _profile(parts)
    message = _fields(profile)
    message["profileType"] = profile.profile_type
    if profile.HasField("deployment"):
        message["deployment"] = _deployment(profile.deployment)
    if profile.HasField("start_time"):
        message["startTime"] = _time(profile)
    return wire.build_offline_profile(parts.profile_bytes, message)


def profile_response(message: ProfileJson) -> bytes:
    """Return a Profile; `warnings` are no field of the API."""
    return _serialize(message, profiler_pb2.Profile())


def list_profiles_response(message: dict[str, object]) -> bytes:
    return _serialize(message, profiler_pb2.ListProfilesResponse())


def _serialize(message: Mapping[str, object], response: Message) -> bytes:
    return ParseDict(dict(message), response, ignore_unknown_fields=True).SerializeToString()


def _parse_small(message: Message, body: bytes) -> None:
    if len(body) > MAX_MESSAGE_BYTES:
        raise BadRequest(
            f"This message may have {MAX_MESSAGE_BYTES:,} bytes; here are {len(body):,}."
        )
    _parse(message, body)


def _parse(message: Message, body: bytes) -> None:
    try:
        message.ParseFromString(body)
    except DecodeError:
        raise BadRequest("The message is not valid protobuf.") from None


def _profile(parts: UploadMessage) -> profiler_pb2.Profile:
    profile = profiler_pb2.Profile()
    _parse(profile, parts.profile)
    return profile


def _project(parent: str) -> str:
    folder, _, project = parent.partition("/")
    if folder != "projects" or not project:
        raise BadField("parent", "must be projects/PROJECT")
    return project


def _deployment(deployment: profiler_pb2.Deployment) -> json_message.Message:
    return {
        "projectId": deployment.project_id,
        "target": deployment.target,
        "labels": dict(deployment.labels),
    }


def _fields(profile: profiler_pb2.Profile) -> json_message.Message:
    """Return the fields of a Profile that agents set in any upload."""
    message: json_message.Message = {"labels": dict(profile.labels)}
    if profile.HasField("duration"):
        duration = profile.duration
        message["duration"] = f"{duration.seconds}.{duration.nanos:09}s"
    return message


def _time(profile: profiler_pb2.Profile) -> str:
    try:
        return profile.start_time.ToJsonString()
    except ValueError:
        raise BadField("startTime", "must be in the years 1 to 9999") from None
