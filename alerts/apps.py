"""Configuration of the Django app `alerts`."""

from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "alerts"

    def ready(self) -> None:
        # These need the models.
        from alerts import archive, default_rules, erasure  # noqa: PLC0415
        from projects.archive_sections import register_section  # noqa: PLC0415
        from projects.project_ids import register_setup  # noqa: PLC0415
        from projects.service_erasure import register_eraser  # noqa: PLC0415

        register_eraser(erasure.erase_service)
        register_setup(default_rules.create_default_rules)
        register_section("alerts", archive.describe_alerts)
