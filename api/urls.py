"""URLs under /api/v1; those under /v2 have their own endpoint, in ingest.cloud_profiler."""

from django.urls import path

from api.resources import compare, deployments, history, profiles, services, top, tree
from api.resources.capture import CaptureView
from api.view import ApiQueryView

_QUESTIONS = {
    "tree": tree.question,
    "top": top.question,
    "compare": compare.question,
    "history": history.question,
    "services": services.question,
    "profiles": profiles.question,
    "deployments": deployments.question,
}

urlpatterns = [
    path("api/v1/projects/<str:project>/capture", CaptureView.as_view()),
    *(
        path(f"api/v1/projects/<str:project>/{name}", ApiQueryView.as_view(question=question))
        for name, question in _QUESTIONS.items()
    ),
]
