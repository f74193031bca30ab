"""Configuration of the Django app `findings`."""

from django.apps import AppConfig


class FindingsConfig(AppConfig):
    name = "findings"

    def ready(self) -> None:
        # These need the models.
        from findings import archive, erasure, new_findings  # noqa: F401, PLC0415
        from projects.archive_sections import register_section  # noqa: PLC0415
        from projects.service_erasure import (  # noqa: PLC0415
            register_eraser,
            register_range_eraser,
        )

        register_eraser(erasure.erase_service)
        register_range_eraser(erasure.erase_range)
        register_section("findings", archive.describe_findings)
