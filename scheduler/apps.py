"""Configuration of the Django app `scheduler`."""

from django.apps import AppConfig


class SchedulerConfig(AppConfig):
    name = "scheduler"
