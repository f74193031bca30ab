"""E-mail notices about a project, so that each fact is told once."""

from django.db import models

from projects.models.project import Project


class MailNotice(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="notices")
    # For example "key:7:14" (key 7 expires within 14 days) or "profiles_per_day:80:2026-11-26".
    fact = models.CharField(max_length=120)
    created = models.DateTimeField(auto_now_add=True)
    # None: to be sent, or sent again because the mail server has failed.
    sent = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "fact"], name="one_notice_of_a_fact")
        ]

    def __str__(self) -> str:
        return f"{self.project} {self.fact}"
