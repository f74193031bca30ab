"""Export of OTLP profiles: read a request, store its profiles, and report what was left out."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from django.conf import settings

from endpoints.errors import BadField, BodyTooLarge, TooManyLabelValues
from ingest.caller import Caller
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.otlp.conversion import (
    Converter,
    GroupedProfiles,
    ProfileGroup,
    Rejection,
    group_profiles,
)
from ingest.formats.otlp.json_encoding import from_json
from ingest.formats.otlp.request import ExportRequest, read_request
from ingest.formats.otlp.revision import Revision
from ingest.imports.labels import LabelRules, map_labels
from ingest.uploads import conversion_pool, decode_pool
from ingest.uploads.decode_pool import decode_limits
from ingest.uploads.pipeline import store_import
from ingest.uploads.requests import LIMIT
from ingest.uploads.upload_budget import UploadAccount, process_budget
from profiles.engine.errors import BadProfile, TooLarge
from profiles.storage.head import Conflict, Unstorable
from projects.credentials.allowed_services import ServiceNotAllowed
from projects.credentials.authentication import Access
from projects.profile_types import ProfileType
from projects.registration.registry import AgentSeen, DeploymentKey, derive_identity
from projects.usage.quota_reached import QuotaReached

MAX_JSON_BYTES = 4 * 2**20
_STORED_TOGETHER = 8  # profiles of a request, which share commits of the database
_MOST_REASONS, _LONGEST_MESSAGE = 5, 4000  # characters
_NO_SERVICE = (
    "The resource names no service: set the resource attribute service.name in the sender, or a "
    "default service for the API key."
)

# Errors of one profile. Others, such as an unavailable database, fail the whole request, which the
# client sends again: what is already stored then is not stored twice.
_OF_PROFILE = (
    BadField,
    BadProfile,
    Conflict,
    QuotaReached,
    ServiceNotAllowed,
    TooLarge,
    TooManyLabelValues,
    Unstorable,
)


@dataclass(frozen=True, slots=True)
class ExportResult:
    """Contents of partial_success, and the revision that the sender speaks."""

    revision: Revision
    rejected: int  # profiles of the request
    message: str  # "" if all was stored and the revision is the newest
    trace_links: int = 0  # links of samples to traces, which are not stored


class Owner(NamedTuple):
    """Deployment and labels to which profiles of a request belong."""

    deployment: DeploymentKey
    labels: tuple[tuple[str, str], ...]
    host: str
    warnings: tuple[str, ...]


Groups = GroupedProfiles[Owner]
Group = ProfileGroup[Owner]


async def export(
    caller: Caller, access: Access, body: bytes, account: UploadAccount
) -> ExportResult:
    """Store the profiles of ExportProfilesServiceRequest, in binary or in JSON.

    Profiles that cannot be stored are counted in the result. Raise BadProfile or TooLarge for a
    request that cannot be read, QuotaReached or ServiceNotAllowed if it is the reason that no
    profile was stored, and what store_import raises if the server is the reason. The body has been
    charged to the account; what the tables of the request need beside it is charged here.
    """
    project = access.project
    _check_size(body)
    account.charge(len(body))
    revision = None
    if is_json(body):
        body, revision = await conversion_pool.convert(project, from_json, body)
    read = partial(_read, body, revision, access.default_service, LabelRules.from_settings())
    request, grouped = await decode_pool.run(project, read, len(body))
    report = _Report(request, grouped)
    converter = Converter(request, decode_limits())
    for start in range(0, len(grouped.groups), _STORED_TOGETHER):
        groups = grouped.groups[start : start + _STORED_TOGETHER]
        convert = partial(_convert, converter, groups)
        converted = await decode_pool.run(project, convert, len(body))
        with process_budget.account(project) as converted_account:
            for profile in converted:
                if isinstance(profile, ImportedProfile):
                    converted_account.charge(len(profile.pprof))
            await _store(caller, access, groups, converted, report)
    return report.result(converter.trace_links)


def is_json(body: bytes) -> bool:
    """Return True for JSON, whatever the Content-Type; no binary message starts with a brace."""
    return body[:64].lstrip()[:1] == b"{"


def _check_size(body: bytes) -> None:
    limit, allowed = LIMIT, int(settings.MAX_UPLOAD_BYTES)
    if is_json(body) and allowed > MAX_JSON_BYTES:
        limit, allowed = "The limit of OTLP in JSON (use protobuf)", MAX_JSON_BYTES
    if len(body) > allowed:
        raise BodyTooLarge(limit, allowed, len(body))


def _read(
    body: bytes, revision: Revision | None, default_service: str, rules: LabelRules
) -> tuple[ExportRequest, Groups]:
    def find_owner(attributes: Mapping[str, str]) -> Owner | str:
        mapped = map_labels(attributes, rules, default_service)
        if mapped is None:
            return _NO_SERVICE
        labels = tuple(sorted(mapped.labels.items()))
        return Owner(mapped.deployment, labels, attributes.get("host.name", ""), mapped.warnings)

    request = read_request(body, decode_limits(), revision)
    return request, group_profiles(request, find_owner)


def _convert(
    converter: Converter, groups: Sequence[Group]
) -> list[ImportedProfile | BadProfile | TooLarge]:
    """Convert each group, or return the error that says why it cannot be converted."""
    converted: list[ImportedProfile | BadProfile | TooLarge] = []
    for group in groups:
        try:
            converted.append(converter.convert(group))
        except (BadProfile, TooLarge) as error:
            converted.append(error.with_traceback(None))
    return converted


async def _store(
    caller: Caller,
    access: Access,
    groups: Sequence[Group],
    converted: Sequence[ImportedProfile | BadProfile | TooLarge],
    report: "_Report",
) -> None:
    """Store the converted profiles, and note the outcome of each."""
    outcomes = await asyncio.gather(
        *(
            _store_one(caller, access, group, profile)
            for group, profile in zip(groups, converted, strict=True)
        ),
        return_exceptions=True,
    )
    for group, outcome in zip(groups, outcomes, strict=True):
        if isinstance(outcome, _OF_PROFILE):
            report.note_rejection(group, outcome)
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            report.note_stored(outcome)


async def _store_one(
    caller: Caller,
    access: Access,
    group: Group,
    profile: ImportedProfile | BadProfile | TooLarge,
) -> tuple[str, ...]:
    """Store a profile and return its warnings; raise `profile` if it is an error."""
    if not isinstance(profile, ImportedProfile):
        raise profile
    owner, labels = group.owner, dict(group.owner.labels)
    agent = _agent(caller, access, owner.host, labels.get("instance", ""), profile.type)
    stored = await store_import(access, agent, owner.deployment, labels, profile)
    return (*owner.warnings, *stored.warnings)


def _agent(
    caller: Caller, access: Access, host: str, instance: str, type: ProfileType
) -> AgentSeen:
    """Return the agent: the instance that the resource names, or else the sender of the request.

    A Collector sends the profiles of many instances.
    """
    seen = caller.describe_agent(access, frozenset({type}))
    if not instance:
        return seen
    identity = derive_identity("", key=access.key, user_agent="otlp", peer=instance)
    return replace(seen, identity=identity, hostname=host or instance)


class _Report:
    """Collects what was stored and what was not."""

    def __init__(self, request: ExportRequest, grouped: Groups) -> None:
        self._revision = request.revision
        self._profiles = len(request.profiles) + len(request.rejections)
        self._rejections: list[Rejection] = [*grouped.rejections]
        self._warnings: Counter[str] = Counter()
        self._stored = 0
        self._of_all: QuotaReached | ServiceNotAllowed | None = None  # if nothing was stored

    def note_stored(self, warnings: Sequence[str]) -> None:
        self._stored += 1
        self._warnings.update(warnings)

    def note_rejection(self, group: Group, error: Exception) -> None:
        self._rejections.append(Rejection(str(error), group.profiles))
        if isinstance(error, QuotaReached | ServiceNotAllowed):
            self._of_all = error

    def result(self, trace_links: int) -> ExportResult:
        """Return the result. Raise the error that is the reason that nothing was stored.

        That is QuotaReached or ServiceNotAllowed.

        Links to traces alone are no reason for a message, which Collectors log as a warning.
        """
        if self._of_all is not None and not self._stored:
            raise self._of_all
        rejected = min(sum(rejection.profiles for rejection in self._rejections), self._profiles)
        sentences = [*self._reasons(rejected), *self._warning_sentences()]
        if sentences or self._revision is not Revision.SINCE_1_10:
            sentences.insert(0, f"This message was read as {self._revision}.")
        if sentences and trace_links:
            sentences.append(f"Links to traces are not stored: {trace_links:,}.")
        message = " ".join(sentences)[:_LONGEST_MESSAGE]
        return ExportResult(self._revision, rejected, message, trace_links)

    def _reasons(self, rejected: int) -> list[str]:
        if not rejected:
            return []
        reasons: Counter[str] = Counter()
        for rejection in self._rejections:
            reasons[rejection.reason] += rejection.profiles
        found = [
            f"{count:,} because: {reason}" for reason, count in reasons.most_common(_MOST_REASONS)
        ]
        if len(reasons) > _MOST_REASONS:
            found.append("others for other reasons.")
        return [f"Profiles not stored: {rejected:,} of {self._profiles:,}.", *found]

    def _warning_sentences(self) -> list[str]:
        return [warning for warning, _ in self._warnings.most_common(_MOST_REASONS)]
