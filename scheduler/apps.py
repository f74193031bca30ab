"""Configuration of the Django app `scheduler`."""

from django.apps import AppConfig


class SchedulerConfig(AppConfig):
    name = "scheduler"

    def ready(self) -> None:
        from projects.service_erasure import register_eraser  # noqa: PLC0415  it needs the models
        from scheduler import user_captures  # noqa: PLC0415

        register_eraser(user_captures.erase_service)
