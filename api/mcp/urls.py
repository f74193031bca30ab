"""URL of the MCP server."""

from django.urls import path

from api.mcp.view import McpView
from projects.credentials.authorization_codes import RESOURCE_PATH

PATH = RESOURCE_PATH

urlpatterns = [path(PATH[1:], McpView.as_view())]
