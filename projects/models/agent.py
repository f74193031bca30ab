"""An agent: one instance of an application, in one deployment."""

from django.db import models

from projects.models.deployment import Deployment


class Agent(models.Model):
    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="agents")
    # X-Flamewatch-Agent, or a hash of what tells any other agent apart.
    identity = models.CharField(max_length=64)
    hostname = models.CharField(max_length=255, blank=True)
    user_agent = models.CharField(max_length=255, blank=True)
    types = models.JSONField(default=list)  # ProfileType values, as last offered
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["deployment", "identity"], name="agent_identity")
        ]
        indexes = [models.Index(fields=["last_seen"], name="agent_last_seen")]

    def __str__(self) -> str:
        return self.hostname or self.identity
