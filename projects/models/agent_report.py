"""What an agent did lately, as its profiles and the server's refusals tell."""

from django.db import models

from projects.models.agent import Agent


class AgentReport(models.Model):
    """Sums by hour of the last day, and what they come to; None where it was never reported."""

    agent = models.OneToOneField(
        Agent, on_delete=models.CASCADE, primary_key=True, related_name="report"
    )
    last_profile = models.DateTimeField(null=True)  # when the server stored it
    last_type = models.CharField(max_length=10, blank=True)  # a ProfileType
    sampler = models.CharField(max_length=32, blank=True)
    memory_bytes = models.BigIntegerField(null=True)  # the agent's own, at its last profile
    refusal = models.CharField(max_length=255, blank=True)  # status and reason of the last one
    refused_at = models.DateTimeField(null=True)
    # What was left out of the last profile that was stored in part.
    warning = models.CharField(max_length=255, blank=True, default="", db_default="")
    warned_at = models.DateTimeField(null=True)  # when a profile was last stored in part
    # {hours since 1970: agent_costs.HourlyCosts as a list}, the last 24 of them
    hours = models.JSONField(default=dict)
    # Of `hours`, so that agents can be found by them.
    cpu_share = models.FloatField(null=True)  # of one core
    dropped = models.BigIntegerField(null=True)  # samples
    samples = models.BigIntegerField(default=0)  # in profiles: those that were not dropped
    refused = models.PositiveIntegerField(default=0)  # uploads

    def __str__(self) -> str:
        return f"{self.agent_id}: {self.last_profile}"
