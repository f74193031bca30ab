"""URLs of pages and their fragments, each with its audience."""

from frontend.http.routes import (
    account_page,
    project_data,
    project_page,
    public_page,
    require_guards,
)
from frontend.pages.account import overview as account_overview
from frontend.pages.account import view as account
from frontend.pages.agent_files import view as agent_files
from frontend.pages.agent_files.archives import GO_MODULE
from frontend.pages.agents import view as agents
from frontend.pages.alerts import view as alerts
from frontend.pages.audit import export as audit_export
from frontend.pages.audit import view as audit
from frontend.pages.breakdown import view as breakdown
from frontend.pages.calendar import view as calendar
from frontend.pages.capture import view as capture
from frontend.pages.compare import view as compare
from frontend.pages.deletion import deleted_projects, exports
from frontend.pages.deletion import view as deletion
from frontend.pages.embed import page as embed
from frontend.pages.findings import view as findings
from frontend.pages.flame import download, lines, more_functions, tree
from frontend.pages.flame import view as flame
from frontend.pages.flame.over_time import view as over_time
from frontend.pages.help import api, concepts
from frontend.pages.history import view as history
from frontend.pages.home import view as home
from frontend.pages.insights import function_search
from frontend.pages.insights import view as insights
from frontend.pages.invitation import view as invitation
from frontend.pages.keys import key_file
from frontend.pages.keys import view as keys
from frontend.pages.members import invitations
from frontend.pages.members import view as members
from frontend.pages.notes import view as notes
from frontend.pages.notifications import view as notifications
from frontend.pages.prices import view as prices
from frontend.pages.profiles import view as profiles
from frontend.pages.saved import palette, snapshots
from frontend.pages.saved import view as saved
from frontend.pages.saved import views as saved_views
from frontend.pages.services import view as services
from frontend.pages.settings import retention
from frontend.pages.settings import view as settings
from frontend.pages.setup import view as setup
from frontend.pages.tokens import authorization, device_sign_in
from frontend.pages.tokens import view as tokens
from frontend.pages.usage import view as usage
from projects.credentials.authorization_codes import RESOURCE_METADATA_PATH
from projects.permissions import Permission

urlpatterns = [
    account_page("", home.home, "home"),
    account_page("projects/new", home.new_project, "new_project"),
    account_page("projects/new/id", home.suggest_id, "suggested_id"),
    account_page("projects/deleted", deleted_projects.list_deleted, "deleted_projects"),
    account_page(
        "projects/deleted/<str:project_id>/restore", deleted_projects.restore, "restore_project"
    ),
    project_page("", home.project, "project", Permission.VIEW),
    project_page("/", home.project, "project", Permission.VIEW),
    project_page("/services", services.services, "services", Permission.VIEW),
    project_page("/flame", flame.flame, "flame", Permission.VIEW),
    project_data("/flame/tree", tree.flame_tree, "flame_tree", Permission.VIEW),
    project_page("/flame/over-time", over_time.flame_over_time, "flame_over_time", Permission.VIEW),
    project_page("/flame/lines", lines.flame_lines, "flame_lines", Permission.VIEW),
    project_page(
        "/flame/functions", more_functions.flame_functions, "flame_functions", Permission.VIEW
    ),
    project_page(
        "/flame/download/<str:form>", download.flame_download, "flame_download", Permission.VIEW
    ),
    project_page("/capture", capture.capture, "capture", Permission.CAPTURE),
    project_page(
        "/capture/<str:capture_id>", capture.progress, "capture_progress", Permission.VIEW
    ),
    project_page("/embed", embed.embed, "embed", Permission.EMBED),
    project_page("/embed/revoke", embed.revoke, "revoke_embeds", Permission.REVOKE_EMBEDS),
    project_data("/calendar", calendar.calendar, "calendar", Permission.VIEW),
    project_page("/compare", compare.compare, "compare", Permission.VIEW),
    project_data("/compare/tree", compare.compare_tree, "compare_tree", Permission.VIEW),
    project_page("/compare/csv", compare.compare_csv, "compare_csv", Permission.VIEW),
    project_page("/insights", insights.insights, "insights", Permission.VIEW),
    project_page(
        "/insights/functions",
        function_search.show_function_search,
        "search_functions",
        Permission.VIEW,
    ),
    project_page("/findings", findings.list_findings, "findings", Permission.VIEW),
    project_page("/findings/<str:finding_id>", findings.show_finding, "finding", Permission.VIEW),
    project_page(
        "/findings/<str:finding_id>/<str:action>",
        findings.change_finding,
        "change_finding",
        Permission.MANAGE_FINDINGS,
    ),
    project_page("/alerts", alerts.list_alerts, "alerts", Permission.VIEW),
    project_page("/alerts/rules", alerts.new_rule, "new_alert_rule", Permission.CREATE_ALERTS),
    project_page(
        "/alerts/rules/<str:rule_id>",
        alerts.edit_rule,
        "alert_rule",
        Permission.VIEW,
        Permission.CREATE_ALERTS,
    ),
    project_page(
        "/alerts/rules/<str:rule_id>/<str:action>",
        alerts.change_rule,
        "change_alert_rule",
        Permission.CREATE_ALERTS,
    ),
    project_page(
        "/alerts/silences", alerts.create_silence, "silence_alerts", Permission.CREATE_ALERTS
    ),
    project_page(
        "/alerts/silences/<int:pk>/end",
        alerts.end_silence,
        "end_silence",
        Permission.CREATE_ALERTS,
    ),
    project_page("/history", history.history, "history", Permission.VIEW),
    project_page("/history/csv", history.history_csv, "history_csv", Permission.VIEW),
    project_page("/breakdown", breakdown.breakdown, "breakdown", Permission.VIEW),
    project_page("/breakdown/csv", breakdown.breakdown_csv, "breakdown_csv", Permission.VIEW),
    project_page("/profiles", profiles.profiles, "profiles", Permission.VIEW),
    project_page("/profiles/csv", profiles.profiles_csv, "profiles_csv", Permission.VIEW),
    project_page("/notes", notes.notes, "notes", Permission.VIEW),
    project_page("/notes/new", notes.new_note, "new_note", Permission.ANNOTATE),
    project_page("/notes/<int:note>", notes.edit_note, "edit_note", Permission.ANNOTATE),
    project_page("/notes/<int:note>/delete", notes.delete_note, "delete_note", Permission.ANNOTATE),
    project_page("/agents", agents.agents, "agents", Permission.VIEW),
    project_page("/saved", saved.saved, "saved", Permission.VIEW),
    project_page("/snapshots", snapshots.create, "take_snapshot", Permission.SAVE),
    project_page(
        "/snapshots/<str:snapshot_id>/delete", snapshots.delete, "delete_snapshot", Permission.SAVE
    ),
    project_page("/saved/palette", palette.palette, "palette", Permission.VIEW),
    project_page("/saved/views", saved_views.create, "save_view", Permission.SAVE),
    project_page("/saved/views/<int:pk>", saved_views.open_view, "saved_view", Permission.VIEW),
    project_page(
        "/saved/views/<int:pk>/rename", saved_views.rename, "rename_view", Permission.SAVE
    ),
    project_page(
        "/saved/views/<int:pk>/delete", saved_views.delete, "delete_view", Permission.SAVE
    ),
    project_page("/setup", setup.setup, "setup", Permission.VIEW, Permission.MANAGE_KEYS),
    project_page("/setup/status", setup.status, "setup_status", Permission.VIEW),
    project_page(
        "/settings", settings.settings, "settings", Permission.VIEW, Permission.CHANGE_SETTINGS
    ),
    project_page(
        "/settings/retention",
        retention.change_retention,
        "change_retention",
        Permission.CHANGE_RETENTION,
    ),
    project_page(
        "/settings/keys", keys.list_keys, "api_keys", Permission.VIEW, Permission.MANAGE_KEYS
    ),
    project_page("/settings/keys/new", keys.new_key, "new_key", Permission.MANAGE_KEYS),
    project_page(
        "/settings/keys/<str:key_id>/file", key_file.download, "key_file", Permission.MANAGE_KEYS
    ),
    project_page(
        "/settings/keys/<str:key_id>/rotate", keys.rotate, "rotate_key", Permission.MANAGE_KEYS
    ),
    project_page(
        "/settings/keys/<str:key_id>/change", keys.change, "change_key", Permission.MANAGE_KEYS
    ),
    project_page(
        "/settings/keys/<str:key_id>/revoke", keys.revoke, "revoke_key", Permission.MANAGE_KEYS
    ),
    project_page("/settings/members", members.list_members, "members", Permission.VIEW),
    project_page(
        "/settings/members/invite", invitations.invite, "invite", Permission.MANAGE_PEOPLE
    ),
    project_page(
        "/settings/members/invitations/<int:pk>/resend",
        invitations.resend,
        "resend_invitation",
        Permission.MANAGE_PEOPLE,
    ),
    project_page(
        "/settings/members/invitations/<int:pk>/revoke",
        invitations.revoke,
        "revoke_invitation",
        Permission.MANAGE_PEOPLE,
    ),
    project_page("/settings/members/leave", members.leave, "leave_project", Permission.VIEW),
    project_page(
        "/settings/members/<int:pk>/role",
        members.change_role,
        "change_role",
        Permission.MANAGE_PEOPLE,
    ),
    project_page(
        "/settings/members/<int:pk>/remove",
        members.remove,
        "remove_member",
        Permission.MANAGE_PEOPLE,
    ),
    project_page(
        "/settings/members/<int:pk>/transfer",
        members.transfer,
        "transfer_project",
        Permission.MANAGE_OWNERS,
    ),
    public_page("invitations/<str:token>", invitation.invitation, "invitation"),
    project_page(
        "/settings/notifications",
        notifications.notifications,
        "notifications",
        Permission.VIEW,
        Permission.CHANGE_SETTINGS,
    ),
    project_page(
        "/settings/notifications/subscriptions",
        notifications.change_subscriptions,
        "change_subscriptions",
        Permission.VIEW,
    ),
    project_page(
        "/settings/notifications/<str:webhook_id>/<str:action>",
        notifications.change_webhook,
        "change_webhook",
        Permission.CHANGE_SETTINGS,
    ),
    project_page(
        "/settings/notifications/messages/<int:pk>/redeliver",
        notifications.redeliver_message,
        "redeliver_message",
        Permission.CHANGE_SETTINGS,
    ),
    project_page(
        "/settings/prices", prices.prices, "prices", Permission.VIEW, Permission.CHANGE_SETTINGS
    ),
    project_page(
        "/settings/usage", usage.usage, "usage", Permission.VIEW, Permission.REQUEST_QUOTAS
    ),
    project_page("/settings/audit", audit.audit_log, "audit", Permission.READ_AUDIT),
    project_page(
        "/settings/audit/export/<str:form>",
        audit_export.export,
        "audit_export",
        Permission.READ_AUDIT,
    ),
    project_page("/settings/data", deletion.show_data, "data", Permission.DELETE_PROJECT),
    project_page(
        "/settings/data/deletions", deletion.list_jobs, "deletions", Permission.DELETE_PROJECT
    ),
    project_page(
        "/settings/data/deletions/<int:pk>/cancel",
        deletion.cancel,
        "cancel_deletion",
        Permission.DELETE_PROJECT,
    ),
    project_page("/settings/data/exports", exports.exports, "exports", Permission.EXPORT_PROJECT),
    project_page(
        "/settings/data/exports/<int:pk>/cancel",
        exports.cancel,
        "cancel_export",
        Permission.EXPORT_PROJECT,
    ),
    project_page(
        "/settings/data/exports/<int:pk>/download",
        exports.download,
        "download_export",
        Permission.EXPORT_PROJECT,
    ),
    project_page(
        "/settings/data/profiles",
        deletion.delete_selection,
        "delete_selection",
        Permission.DELETE_PROJECT,
    ),
    project_page(
        "/settings/data/project",
        deletion.delete_project,
        "delete_project",
        Permission.DELETE_PROJECT,
    ),
    account_page("account/", account_overview.overview, "account"),
    account_page("account/notices", account_overview.change_notices, "change_notices"),
    account_page("account/sessions/end", account_overview.end_other_sessions, "end_other_sessions"),
    account_page("account/sessions/<int:pk>/end", account_overview.end_session, "end_session"),
    account_page(
        "account/connected/<int:pk>/disconnect", account_overview.disconnect, "disconnect_account"
    ),
    account_page("account/delete", account_overview.delete, "delete_account"),
    account_page("account/editor", account.editor, "editor"),
    public_page("device/code", device_sign_in.issue_code, "device_code"),
    public_page("device/token", device_sign_in.issue_token, "device_token"),
    public_page(
        ".well-known/oauth-protected-resource", authorization.describe_resource, "oauth_resource"
    ),
    public_page(
        RESOURCE_METADATA_PATH[1:], authorization.describe_resource, "oauth_resource_by_path"
    ),
    public_page(
        ".well-known/oauth-authorization-server", authorization.describe_server, "oauth_server"
    ),
    public_page("oauth/register", authorization.register, "oauth_register"),
    public_page("oauth/token", authorization.issue_token, "oauth_token"),
    account_page("oauth/authorize", authorization.authorize, "authorize_program"),
    account_page("device", device_sign_in.confirm, "confirm_device"),
    account_page("account/tokens", tokens.tokens, "tokens"),
    account_page("account/tokens/<str:token_id>/revoke", tokens.revoke, "revoke_token"),
    public_page("account/language", account.language, "language"),
    public_page("help/concepts", concepts.concepts, "concepts"),
    public_page("help/api/<str:name>", api.api_docs, "api_docs"),
    public_page("agents/python/", agent_files.index, "agent_files"),
    public_page("agents/python/simple/", agent_files.simple_projects, "agent_index"),
    public_page(
        "agents/python/simple/<str:project>/", agent_files.simple_project, "agent_index_project"
    ),
    public_page(
        "agents/python/<str:digest>/<str:name>", agent_files.download_build, "agent_file_build"
    ),
    public_page("agents/python/<str:name>", agent_files.download, "agent_file"),
    public_page(f"agents/go/{GO_MODULE}/@v/<str:name>", agent_files.go_module, "go_module"),
    public_page("agents/java/<str:name>", agent_files.java_package, "java_package"),
    public_page("agents/node/<str:name>", agent_files.node_package, "node_package"),
]
require_guards(urlpatterns)
