"""URLs under /api/v1; those under /v2 have their own endpoint, in ingest.cloud_profiler."""

from django.urls import path

from api.contract.view import ContractView
from api.management.routes import urlpatterns as management_urls
from api.resources.annotations import AnnotationsView, AnnotationView
from api.resources.capture import CaptureView
from api.resources.table import RESOURCES
from api.view import ApiQueryView

# Resources of which clients do more than request them.
_OTHER_VIEWS = {"annotations": AnnotationsView}

urlpatterns = [
    path("api/v1/openapi.json", ContractView.as_view()),
    *management_urls,
    path("api/v1/projects/<str:project>/capture", CaptureView.as_view()),
    path("api/v1/projects/<str:project>/annotations/<int:annotation>", AnnotationView.as_view()),
    *(
        path(
            f"api/v1/projects/<str:project>/{name}",
            _OTHER_VIEWS.get(name, ApiQueryView).as_view(resource=name),
        )
        for name in RESOURCES
    ),
]
