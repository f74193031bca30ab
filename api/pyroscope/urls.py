"""URLs of Pyroscope's query API."""

from django.urls import path

from api.pyroscope import render
from api.pyroscope.view import DocumentView, ProcedureView, SettingsView

SERVICE = "/querier.v1.QuerierService/"
SETTINGS = "/settings.v1.SettingsService/Get"
_DOCUMENTS = {
    "/pyroscope/render": render.render,
    "/pyroscope/render-diff": render.render_diff,
    "/pyroscope/label-values": render.known_values,
}
PATHS = frozenset({SETTINGS, *_DOCUMENTS})


def takes(address: str) -> bool:
    """Return True for the paths that this URLconf serves."""
    return address.startswith(SERVICE) or address in PATHS


urlpatterns = [
    path(f"{SERVICE[1:]}<str:procedure>", ProcedureView.as_view()),
    path(SETTINGS[1:], SettingsView.as_view()),
    *(
        path(address[1:], DocumentView.as_view(document=document))
        for address, document in _DOCUMENTS.items()
    ),
]
