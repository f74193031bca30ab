"""Actions of the audit log, in words, by group; the only list of them."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Refused; every other action was done.
DENIED = frozenset({"account.sign_in_failed"})

GROUPS: dict[Promise, dict[str, Promise]] = {
    _("Accounts"): {
        "account.sign_up": _("Signed up"),
        "account.sign_in": _("Signed in"),
        "account.sign_in_failed": _("Failed to sign in"),
        "account.sign_out": _("Signed out"),
        "account.password_change": _("Changed password"),
        "account.factor_add": _("Added a second factor"),
        "account.factor_remove": _("Removed a second factor"),
        "account.recovery_codes": _("Generated recovery codes"),
        "account.factors_reset": _("Reset two factors"),
        "account.connect": _("Connected an account of single sign-on"),
        "account.disconnect": _("Disconnected an account of single sign-on"),
        "account.sessions_end": _("Ended sessions"),
        "user.create": _("Created account"),
        "user.change": _("Changed account"),
        "user.delete": _("Deleted account"),
    },
    _("Project"): {
        "project.create": _("Created project"),
        "project.change": _("Changed settings"),
        "prices.change": _("Changed prices"),
        "webhook.create": _("Created webhook"),
        "webhook.change": _("Switched webhook on or off"),
        "webhook.rotate": _("Rotated the secret of a webhook"),
        "webhook.delete": _("Deleted webhook"),
        "project.suspend": _("Suspended project"),
        "project.resume": _("Resumed project"),
        "project.plan": _("Changed plan"),
        "project.visit": _("Began a read-only visit"),
        "project.visit_end": _("Ended a read-only visit"),
        "project.delete": _("Deleted project"),
        "project.restore": _("Restored project"),
        "quota.change": _("Changed quotas"),
        "quota.request": _("Requested a higher quota"),
        "quota.grant": _("Granted a higher quota"),
        "quota.decline": _("Declined a higher quota"),
        "plan.change": _("Changed the quotas of a plan"),
    },
    _("Members"): {
        "member.add": _("Added member"),
        "member.role": _("Changed role"),
        "member.remove": _("Removed member"),
        "member.leave": _("Left the project"),
        "project.transfer": _("Transferred project"),
        "invitation.create": _("Invited person"),
        "invitation.resend": _("Sent invitation again"),
        "invitation.revoke": _("Revoked invitation"),
        "invitation.accept": _("Accepted invitation"),
    },
    _("API keys"): {
        "key.create": _("Created API key"),
        "key.rotate": _("Rotated API key"),
        "key.change": _("Changed API key"),
        "key.revoke": _("Revoked API key"),
        "key_file.create": _("Created key file"),
    },
    _("Personal access tokens"): {
        "token.create": _("Created personal access token"),
        "token.revoke": _("Revoked personal access token"),
    },
    _("Profiles"): {
        "profiles.download": _("Downloaded profiles"),
        "capture.now": _("Requested capture"),
        "snapshot.create": _("Created snapshot"),
        "snapshot.delete": _("Deleted snapshot"),
        "embed.create": _("Created embedded image"),
        "embed.revoke_all": _("Revoked embedded images"),
    },
    _("Findings"): {
        "finding.acknowledged": _("Acknowledged finding"),
        "finding.resolved": _("Resolved finding"),
        "finding.reopened": _("Reopened finding"),
        "finding.muted": _("Muted finding"),
        "finding.assigned": _("Assigned finding"),
    },
    _("Alerts"): {
        "alert_rule.create": _("Created alert rule"),
        "alert_rule.change": _("Changed alert rule"),
        "alert_rule.pause": _("Paused alert rule"),
        "alert_rule.resume": _("Resumed alert rule"),
        "alert_rule.delete": _("Deleted alert rule"),
        "alert.silence": _("Silenced alerts"),
        "alert.unsilence": _("Ended a silence of alerts"),
    },
    _("Deletion"): {
        "deletion.request": _("Requested deletion"),
        "deletion.cancel": _("Canceled deletion"),
        "deletion.finish": _("Deleted data"),
    },
    _("Export"): {
        "export.request": _("Requested export"),
        "export.cancel": _("Canceled export"),
        "export.finish": _("Exported data"),
        "export.download": _("Downloaded export"),
    },
    _("Saved views and notes"): {
        "view.create": _("Saved view"),
        "view.rename": _("Renamed view"),
        "view.delete": _("Deleted view"),
        "annotation.create": _("Added note"),
        "annotation.change": _("Changed note"),
        "annotation.delete": _("Deleted note"),
    },
    _("Audit log"): {
        "audit.export": _("Exported audit log"),
    },
}
LABELS: dict[str, Promise] = {
    action: label for labels in GROUPS.values() for action, label in labels.items()
}
