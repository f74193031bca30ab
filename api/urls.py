"""URLs under /api/v1; those under /v2 have their own endpoint, in ingest.cloud_profiler."""

from django.urls import path

from api.resources import compare, deployments, profiles, services, top, tree
from api.resources.annotations import AnnotationsView, AnnotationView
from api.resources.capture import CaptureView
from api.resources.value_queries import VALUE_QUERIES
from api.view import ApiQueryView

_RESOURCES = {
    "tree": tree.query,
    "top": top.query,
    "compare": compare.query,
    **{name: each.query for name, each in VALUE_QUERIES.items()},
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
            ApiQueryView.as_view(parse_query=query, kind=f"api_{name}"),
        )
        for name, query in _RESOURCES.items()
    ),
]
