"""The app `projects`."""

from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "projects"

    def ready(self) -> None:
        from projects import forgetting  # noqa: F401, PLC0415  its receivers need the models
