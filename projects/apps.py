"""Django application `projects`."""

from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "projects"

    def ready(self) -> None:
        from projects import cache_invalidation  # noqa: F401, PLC0415  its receivers need the models
