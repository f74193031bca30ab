"""Models of tenants and of the objects that belong to them."""

from projects.models.access_token import AccessToken, TokenScope
from projects.models.agent import Agent, Delivery, filter_connected, running_agents
from projects.models.agent_report import AgentReport
from projects.models.annotation import Annotation
from projects.models.api_key import ApiKey
from projects.models.audit import ActorKind, AuditEntry
from projects.models.authorization_code import AuthorizationCode
from projects.models.deployment import Deployment
from projects.models.device_sign_in import DeviceSignIn
from projects.models.invitation import Invitation, InvitationState, MailState
from projects.models.key_file import KeyFile
from projects.models.mail_notice import MailNotice
from projects.models.prices import Prices
from projects.models.project import Member, Project, Role
from projects.models.quota import DayRejections, DayUsage, Plan, Quota
from projects.models.quota_request import QuotaRequest, QuotaRequestState
from projects.models.saved_view import SavedView, ViewPage
from projects.models.user import User
from projects.models.webhook import EventKind, Webhook, WebhookDelivery, WebhookFormat

__all__ = [
    "AccessToken",
    "ActorKind",
    "Agent",
    "AgentReport",
    "Annotation",
    "ApiKey",
    "AuditEntry",
    "AuthorizationCode",
    "DayRejections",
    "DayUsage",
    "Delivery",
    "Deployment",
    "DeviceSignIn",
    "EventKind",
    "Invitation",
    "InvitationState",
    "KeyFile",
    "MailNotice",
    "MailState",
    "Member",
    "Plan",
    "Prices",
    "Project",
    "Quota",
    "QuotaRequest",
    "QuotaRequestState",
    "Role",
    "SavedView",
    "TokenScope",
    "User",
    "ViewPage",
    "Webhook",
    "WebhookDelivery",
    "WebhookFormat",
    "filter_connected",
    "running_agents",
]
