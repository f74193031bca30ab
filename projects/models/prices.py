"""Prices of a project, by which its values are shown as money and as emissions."""

from django.db import models

from projects.models.project import Project

# Averages: a core under load on common x86 servers, with the overhead of a data centre, and a
# kilowatt-hour of electricity.
WATTS_PER_CORE = 7.0
POWER_USAGE_EFFECTIVENESS = 1.7
KG_CO2_PER_KWH = 0.379


class Prices(models.Model):
    """Prices in one currency; empty ones are not set."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="prices")
    currency = models.CharField(max_length=3)  # ISO 4217
    core_hour = models.FloatField(null=True)
    gib_hour = models.FloatField(null=True)  # of memory
    zones = models.JSONField(default=dict)  # {zone: price of a core-hour}, where it differs
    watts_per_core = models.FloatField(default=WATTS_PER_CORE)
    power_usage_effectiveness = models.FloatField(default=POWER_USAGE_EFFECTIVENESS)
    kg_co2_per_kwh = models.FloatField(default=KG_CO2_PER_KWH)

    class Meta:
        verbose_name_plural = "prices"

    def __str__(self) -> str:
        return f"prices of {self.project}"
