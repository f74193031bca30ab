"""URLs under /api/v1; those under /v2 have their own endpoint, in ingest.cloud_profiler."""

from django.urls import path

from api.resources import compare, deployments, history, profiles, series, services, top, tree
from api.resources.annotations import AnnotationsView, AnnotationView
from api.resources.capture import CaptureView
from api.view import ApiQueryView

_RESOURCES = {
    "tree": tree.query,
    "top": top.query,
    "compare": compare.query,
    "history": history.query,
    "series": series.query,
    "services": services.query,
    "profiles": profiles.query,
    "deployments": deployments.query,
}

urlpatterns = [
    path("api/v1/projects/<str:project>/capture", CaptureView.as_view()),
    path("api/v1/projects/<str:project>/annotations", AnnotationsView.as_view()),
    path("api/v1/projects/<str:project>/annotations/<int:annotation>", AnnotationView.as_view()),
    *(
        path(
            f"api/v1/projects/<str:project>/{name}",
            ApiQueryView.as_view(query=query, kind=f"api_{name}"),
        )
        for name, query in _RESOURCES.items()
    ),
]
