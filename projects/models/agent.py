"""Agent: one running instance of an application with a profiler, in one deployment."""

from django.db import models

from projects.models.deployment import Deployment


class Agent(models.Model):
    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="agents")
    # X-Flamewatch-Agent, or a hash of key, User-Agent and peer address.
    identity = models.CharField(max_length=64)
    hostname = models.CharField(max_length=255, blank=True)
    user_agent = models.CharField(max_length=255, blank=True)
    types = models.JSONField(default=list)  # ProfileType values of the last handshake or upload
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["deployment", "identity"], name="agent_identity")
        ]
        indexes = [models.Index(fields=["last_seen"], name="agent_last_seen")]

    def __str__(self) -> str:
        return self.hostname or self.identity
