"""The addresses under /v2 that Django serves; uploads never come here (door.py)."""

from django.urls import path

from ingest.cloud_profiler.profiles import ProfilesView

urlpatterns = [path("v2/projects/<str:project>/profiles", ProfilesView.as_view())]
