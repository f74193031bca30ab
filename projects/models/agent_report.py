"""Recent activity of an agent: self-reports from its profiles, and rejected uploads."""

from django.db import models

from projects.models.agent import Agent


class AgentReport(models.Model):
    """Hourly sums of the last day and their totals; None if a value was never reported."""

    agent = models.OneToOneField(
        Agent, on_delete=models.CASCADE, primary_key=True, related_name="report"
    )
    last_profile = models.DateTimeField(null=True)  # when the server stored it
    last_type = models.CharField(max_length=10, blank=True)  # a ProfileType
    sampler = models.CharField(max_length=32, blank=True)
    memory_bytes = models.BigIntegerField(null=True)  # the agent's own, at its last profile
    # Last error: status and reason.
    rejection = models.CharField(max_length=255, blank=True)
    rejected_at = models.DateTimeField(null=True)
    # Description of what was left out of the last profile that was stored in part.
    warning = models.CharField(max_length=255, blank=True, default="", db_default="")
    warned_at = models.DateTimeField(null=True)  # when a profile was last stored in part
    # {hours since 1970: agent_costs.HourlyCosts as a list} of the last 24 hours
    hours = models.JSONField(default=dict)
    # Totals of `hours`, as columns for filtering.
    cpu_share = models.FloatField(null=True)  # CPU time of the agent as a share of one core
    dropped = models.BigIntegerField(null=True)  # samples that agents dropped
    samples = models.BigIntegerField(default=0)  # samples in stored profiles
    rejected = models.PositiveIntegerField(default=0)  # rejected uploads

    def __str__(self) -> str:
        return f"{self.agent_id}: {self.last_profile}"
