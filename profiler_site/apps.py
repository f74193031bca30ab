"""Django application of the site, for its system checks."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "profiler_site"

    def ready(self) -> None:
        from profiler_site.configuration import checks  # noqa: F401, PLC0415  registers them; needs the apps
