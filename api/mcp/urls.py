"""URL of the MCP server."""

from django.urls import path

from api.mcp.view import McpView

PATH = "/mcp"

urlpatterns = [path(PATH[1:], McpView.as_view())]
