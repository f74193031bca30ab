"""Django URLs under /v2; uploads are handled before Django, by endpoint.py."""

from django.urls import path

from ingest.cloud_profiler.profiles import ProfilesView

urlpatterns = [path("v2/projects/<str:project>/profiles", ProfilesView.as_view())]
