"""Configuration of the Django app `findings`."""

from django.apps import AppConfig


class FindingsConfig(AppConfig):
    name = "findings"

    def ready(self) -> None:
        from findings import erasure  # noqa: PLC0415  it needs the models
        from projects.service_erasure import (  # noqa: PLC0415
            register_eraser,
            register_range_eraser,
        )

        register_eraser(erasure.erase_service)
        register_range_eraser(erasure.erase_range)
