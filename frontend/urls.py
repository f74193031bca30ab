"""URLs of pages and their fragments."""

from django.urls import path

from frontend.pages.account import view as account
from frontend.pages.agent_files import view as agent_files
from frontend.pages.agent_files.archives import GO_MODULE
from frontend.pages.agents import view as agents
from frontend.pages.breakdown import view as breakdown
from frontend.pages.calendar import view as calendar
from frontend.pages.capture import view as capture
from frontend.pages.compare import view as compare
from frontend.pages.embed import page as embed
from frontend.pages.flame import download, lines, more_functions, tree
from frontend.pages.flame import view as flame
from frontend.pages.flame.over_time import view as over_time
from frontend.pages.help import concepts
from frontend.pages.history import view as history
from frontend.pages.home import view as home
from frontend.pages.notes import view as notes
from frontend.pages.profiles import view as profiles
from frontend.pages.saved import palette, snapshots
from frontend.pages.saved import view as saved
from frontend.pages.saved import views as saved_views
from frontend.pages.services import view as services
from frontend.pages.settings import api_keys, key_file
from frontend.pages.settings import view as settings
from frontend.pages.setup import view as setup

urlpatterns = [
    path("", home.home, name="home"),
    path("projects/new", home.new_project, name="new_project"),
    path("projects/new/id", home.suggest_id, name="suggested_id"),
    path("p/<str:project_id>", home.project, name="project"),
    path("p/<str:project_id>/", home.project, name="project"),
    path("p/<str:project_id>/services", services.services, name="services"),
    path("p/<str:project_id>/flame", flame.flame, name="flame"),
    path("p/<str:project_id>/flame/tree", tree.flame_tree, name="flame_tree"),
    path("p/<str:project_id>/flame/over-time", over_time.flame_over_time, name="flame_over_time"),
    path("p/<str:project_id>/flame/lines", lines.flame_lines, name="flame_lines"),
    path(
        "p/<str:project_id>/flame/functions",
        more_functions.flame_functions,
        name="flame_functions",
    ),
    path(
        "p/<str:project_id>/flame/download/<str:form>",
        download.flame_download,
        name="flame_download",
    ),
    path("p/<str:project_id>/capture", capture.capture, name="capture"),
    path("p/<str:project_id>/capture/<str:capture_id>", capture.progress, name="capture_progress"),
    path("p/<str:project_id>/embed", embed.embed, name="embed"),
    path("p/<str:project_id>/embed/revoke", embed.revoke, name="revoke_embeds"),
    path("p/<str:project_id>/calendar", calendar.calendar, name="calendar"),
    path("p/<str:project_id>/compare", compare.compare, name="compare"),
    path("p/<str:project_id>/compare/tree", compare.compare_tree, name="compare_tree"),
    path("p/<str:project_id>/compare/csv", compare.compare_csv, name="compare_csv"),
    path("p/<str:project_id>/history", history.history, name="history"),
    path("p/<str:project_id>/history/csv", history.history_csv, name="history_csv"),
    path("p/<str:project_id>/breakdown", breakdown.breakdown, name="breakdown"),
    path("p/<str:project_id>/breakdown/csv", breakdown.breakdown_csv, name="breakdown_csv"),
    path("p/<str:project_id>/profiles", profiles.profiles, name="profiles"),
    path("p/<str:project_id>/profiles/csv", profiles.profiles_csv, name="profiles_csv"),
    path("p/<str:project_id>/notes", notes.notes, name="notes"),
    path("p/<str:project_id>/notes/new", notes.new_note, name="new_note"),
    path("p/<str:project_id>/notes/<int:note>", notes.edit_note, name="edit_note"),
    path("p/<str:project_id>/notes/<int:note>/delete", notes.delete_note, name="delete_note"),
    path("p/<str:project_id>/agents", agents.agents, name="agents"),
    path("p/<str:project_id>/saved", saved.saved, name="saved"),
    path("p/<str:project_id>/snapshots", snapshots.create, name="take_snapshot"),
    path(
        "p/<str:project_id>/snapshots/<str:snapshot_id>/delete",
        snapshots.delete,
        name="delete_snapshot",
    ),
    path("p/<str:project_id>/saved/palette", palette.palette, name="palette"),
    path("p/<str:project_id>/saved/views", saved_views.create, name="save_view"),
    path("p/<str:project_id>/saved/views/<int:pk>", saved_views.open_view, name="saved_view"),
    path("p/<str:project_id>/saved/views/<int:pk>/rename", saved_views.rename, name="rename_view"),
    path("p/<str:project_id>/saved/views/<int:pk>/delete", saved_views.delete, name="delete_view"),
    path("p/<str:project_id>/setup", setup.setup, name="setup"),
    path("p/<str:project_id>/setup/status", setup.status, name="setup_status"),
    path("p/<str:project_id>/settings", settings.settings, name="settings"),
    path("p/<str:project_id>/settings/keys", api_keys.create, name="create_key"),
    path("p/<str:project_id>/settings/keys/<str:key_id>/file", key_file.download, name="key_file"),
    path(
        "p/<str:project_id>/settings/keys/<str:key_id>/revoke", api_keys.revoke, name="revoke_key"
    ),
    path("account/editor", account.editor, name="editor"),
    path("account/language", account.language, name="language"),
    path("help/concepts", concepts.concepts, name="concepts"),
    path("agents/python/", agent_files.index, name="agent_files"),
    path("agents/python/simple/", agent_files.simple_projects, name="agent_index"),
    path(
        "agents/python/simple/<str:project>/",
        agent_files.simple_project,
        name="agent_index_project",
    ),
    path(
        "agents/python/<str:digest>/<str:name>",
        agent_files.download_build,
        name="agent_file_build",
    ),
    path("agents/python/<str:name>", agent_files.download, name="agent_file"),
    path(f"agents/go/{GO_MODULE}/@v/<str:name>", agent_files.go_module, name="go_module"),
    path("agents/java/<str:name>", agent_files.java_package, name="java_package"),
    path("agents/node/<str:name>", agent_files.node_package, name="node_package"),
]
