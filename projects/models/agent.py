"""Agent: one running instance of an application with a profiler, in one deployment.

Senders of single files have rows too. They count as imports, not as agents.
"""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from projects.models.deployment import Deployment

# Reports with shorter gaps belong together. An agent that was told to back off polls again within
# some minutes, however many agents there are.
MAX_REPORT_GAP = timedelta(minutes=10)
# A client that sends without being asked is an agent once it has done so for this time: clients of
# Pyroscope and OpenTelemetry send every 5 to 60 s, a person's upload once.
MIN_REPORTING_TIME = timedelta(minutes=1)


class Delivery(models.TextChoices):
    HANDSHAKE = "handshake", _("Waits for capture requests")
    PUSH = "push", _("Sends on its own")
    FILE = "file", _("Imports files")


class Agent(models.Model):
    deployment = models.ForeignKey(
        Deployment, on_delete=models.CASCADE, related_name="agents", verbose_name=_("deployment")
    )
    # X-Flamewatch-Agent, or a hash of key, User-Agent and peer address.
    identity = models.CharField(_("identity"), max_length=64)
    hostname = models.CharField(_("host name"), max_length=255, blank=True)
    user_agent = models.CharField(_("user agent"), max_length=255, blank=True)
    # ProfileType values of the last handshake, or of all uploads
    types = models.JSONField(_("profile types"), default=list)
    # Last way in which it reported.
    delivery = models.CharField(
        _("delivery"),
        max_length=9,
        choices=Delivery,
        default=Delivery.HANDSHAKE,
        db_default=Delivery.HANDSHAKE.value,
    )
    first_seen = models.DateTimeField(_("first seen"))
    last_seen = models.DateTimeField(_("last seen"))
    # Start of the reports before last_seen that are at most MAX_REPORT_GAP apart; None: not known.
    reporting_since = models.DateTimeField(_("reporting since"), null=True)

    class Meta:
        verbose_name = _("agent")
        verbose_name_plural = _("agents")
        constraints = [
            models.UniqueConstraint(fields=["deployment", "identity"], name="agent_identity")
        ]
        indexes = [models.Index(fields=["last_seen"], name="agent_last_seen")]

    def __str__(self) -> str:
        return self.hostname or self.identity

    @property
    def is_running(self) -> bool:
        """Return True for an agent, False for an import; `running_agents` as a property."""
        if self.delivery == Delivery.PUSH:
            since = self.reporting_since
            return since is not None and self.last_seen - since >= MIN_REPORTING_TIME
        return self.delivery == Delivery.HANDSHAKE


def running_agents(prefix: str = "") -> Q:
    """Return the condition for agents, as opposed to imports; `prefix` leads to the agent."""
    pushes = {
        f"{prefix}delivery": Delivery.PUSH,
        f"{prefix}last_seen__gte": F(f"{prefix}reporting_since") + MIN_REPORTING_TIME,
    }
    return Q(**{f"{prefix}delivery": Delivery.HANDSHAKE}) | Q(**pushes)


def filter_connected(now: datetime, prefix: str = "") -> Q:
    """Return the condition for running agents that have reported lately."""
    return running_agents(prefix) & Q(**{f"{prefix}last_seen__gte": now - MAX_REPORT_GAP})
