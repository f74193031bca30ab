"""Agent: one running instance of an application with a profiler, in one deployment."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models.deployment import Deployment


class Agent(models.Model):
    deployment = models.ForeignKey(
        Deployment, on_delete=models.CASCADE, related_name="agents", verbose_name=_("deployment")
    )
    # X-Flamewatch-Agent, or a hash of key, User-Agent and peer address.
    identity = models.CharField(_("identity"), max_length=64)
    hostname = models.CharField(_("host name"), max_length=255, blank=True)
    user_agent = models.CharField(_("user agent"), max_length=255, blank=True)
    # ProfileType values of the last handshake or upload
    types = models.JSONField(_("profile types"), default=list)
    first_seen = models.DateTimeField(_("first seen"))
    last_seen = models.DateTimeField(_("last seen"))

    class Meta:
        verbose_name = _("agent")
        verbose_name_plural = _("agents")
        constraints = [
            models.UniqueConstraint(fields=["deployment", "identity"], name="agent_identity")
        ]
        indexes = [models.Index(fields=["last_seen"], name="agent_last_seen")]

    def __str__(self) -> str:
        return self.hostname or self.identity
