"""Django app configuration of `profiles`."""

from django.apps import AppConfig


class ProfilesConfig(AppConfig):
    name = "profiles"
