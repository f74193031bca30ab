"""URLs of embedded images, which need no session."""

from django.urls import path

from frontend.pages.embed.image import EmbedView

PREFIX = "/embed/"

urlpatterns = [path(f"{PREFIX[1:]}<str:token>.svg", EmbedView.as_view(), name="embed_image")]
