"""Configuration of the Django app `alerts`."""

from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "alerts"

    def ready(self) -> None:
        from alerts import erasure  # noqa: PLC0415  it needs the models
        from projects.service_erasure import register_eraser  # noqa: PLC0415

        register_eraser(erasure.erase_service)
