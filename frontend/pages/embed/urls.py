"""URLs of embedded images, which need no session."""

from django.urls import path

from frontend.pages.embed.image import FORMATS, EmbedView
from projects.credentials.embed_tokens import PATH_PREFIX

urlpatterns = [
    path(f"{PATH_PREFIX[1:]}<str:token>.{ending}", EmbedView.as_view(ending=ending))
    for ending in FORMATS
]
