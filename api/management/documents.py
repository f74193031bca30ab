"""Documents of the management resources; the contract takes its schemas from them."""

from datetime import date, datetime
from typing import TypedDict

from projects.audit_log import EntryDocument


class TokenSummary(TypedDict):
    id: str
    scopes: list[str]


class UserDocument(TypedDict):
    email: str
    name: str
    token: TokenSummary


class TokenDocument(TypedDict):
    id: str
    name: str
    scopes: list[str]
    created: datetime
    expires: datetime
    last_used: datetime | None


class TokenList(TypedDict):
    rows: list[TokenDocument]


class ProjectDocument(TypedDict):
    project: str
    name: str
    created: datetime
    role: str  # of the person
    profiles_per_minute: float
    adaptive_rate: bool
    source_url: str
    source_root: str


class PricesDocument(TypedDict):
    currency: str
    core_hour: float | None
    gib_hour: float | None
    zones: dict[str, float]
    watts_per_core: float
    power_usage_effectiveness: float
    kg_co2_per_kwh: float


class ProjectList(TypedDict):
    rows: list[ProjectDocument]


class MemberDocument(TypedDict):
    id: int
    email: str
    name: str
    role: str
    since: datetime


class MemberList(TypedDict):
    rows: list[MemberDocument]


class InvitationDocument(TypedDict):
    id: int
    email: str  # empty for a link that has no addressee
    role: str
    created: datetime
    expires: datetime
    mail: str | None  # state of the e-mail; null without one


class NewInvitationDocument(InvitationDocument):
    link: str | None  # shown once; null if it is sent by e-mail


class InvitationList(TypedDict):
    rows: list[InvitationDocument]


class NewInvitationList(TypedDict):
    rows: list[NewInvitationDocument]


class KeyDocument(TypedDict):
    id: str
    name: str
    scopes: list[str]
    default_service: str
    services: list[str]  # that it may use, * for any text; none: all
    created: datetime
    expires: datetime | None
    replaced_by: str | None  # id of the new key of a rotation
    last_used: datetime | None
    last_used_from: str  # address
    revoked: datetime | None


class NewKeyDocument(KeyDocument):
    key: str  # shown once


class KeyList(TypedDict):
    rows: list[KeyDocument]


class LimitDocument(TypedDict):
    limit: str
    allowed: int
    used: int | None  # null for limits on a size or an age
    resets_in_s: float | None  # null: never


class LimitList(TypedDict):
    rows: list[LimitDocument]


class DayDocument(TypedDict):
    day: date  # UTC
    profiles: int
    stored_bytes: int
    new_deployments: int
    rejected: int


class RejectionDocument(TypedDict):
    day: date  # UTC
    reason: str
    count: int


class UsageDocument(TypedDict):
    days: list[DayDocument]
    rejections: list[RejectionDocument]


class QuotaRequestDocument(TypedDict):
    id: int
    limit: str
    allowed: int  # when it was requested
    amount: int  # requested
    reason: str
    created: datetime
    created_by: str | None  # e-mail; null once the account is deleted
    state: str  # open, granted or declined
    decided: datetime | None
    granted: int | None
    note: str  # of the operator


class QuotaRequestList(TypedDict):
    rows: list[QuotaRequestDocument]


class DeletionDocument(TypedDict):
    id: int
    scope: str  # selection, service or project
    target: str  # description of the deleted data
    state: str  # pending, deleting, erasing, done or canceled
    percent: int
    requested: datetime
    requested_by: str | None  # e-mail; null once the account is deleted
    due: datetime  # it starts then, and can be canceled until then
    finished: datetime | None
    profiles: int
    bytes: int
    problem: str


class DeletionList(TypedDict):
    rows: list[DeletionDocument]


class ExportDocument(TypedDict):
    id: int
    state: str
    requested: datetime
    requested_by: str | None  # e-mail; null once the account is deleted
    finished: datetime | None
    expires: datetime | None  # the archive is deleted then
    files: int
    profiles: int
    bytes: int
    problem: str


class ExportList(TypedDict):
    rows: list[ExportDocument]


class AuditEntryList(TypedDict):
    rows: list[EntryDocument]
    next_page: str | None


class AlertIncidentDocument(TypedDict):
    id: str
    subject: str  # service, quota, or id of a finding
    service: str
    started: datetime
    ended: datetime | None  # null: it still fires
    value: float | None  # when it started
    latest_value: float | None
    extreme_value: float | None


class AlertRuleDocument(TypedDict):
    id: str
    name: str
    kind: str
    parameters: object  # of the kind
    service: str
    type: str
    function: str
    enabled: bool
    email: bool  # members who want alerts get its e-mails
    subscribed_webhooks: bool  # webhooks that want alerts get its messages
    webhooks: list[str]  # ids of webhooks that get its messages whatever they want
    state: str  # ok, pending or firing
    problem: str  # of the last evaluation; empty without one
    created: datetime
    created_by: str | None  # e-mail; null once the account is deleted
    evaluated: datetime | None
    incidents: list[AlertIncidentDocument]  # the latest ones


class AlertRuleList(TypedDict):
    rows: list[AlertRuleDocument]


class WebhookDocument(TypedDict):
    id: str
    name: str
    url: str
    format: str
    kinds: list[str]
    enabled: bool
    failing_since: datetime | None  # first failure since the last success
    created: datetime
    created_by: str | None  # e-mail; null once the account is deleted


class NewWebhookDocument(WebhookDocument):
    secret: str  # shown once


class WebhookList(TypedDict):
    rows: list[WebhookDocument]


class DeliveryDocument(TypedDict):
    id: str  # webhook-id of each attempt
    event: str
    kind: str
    created: datetime
    attempts: int
    next_attempt: datetime | None  # null: accepted, or given up
    delivered: datetime | None
    status: int | None  # of the latest response
    reply: str  # its first characters
    problem: str


class DeliveryList(TypedDict):
    rows: list[DeliveryDocument]
