"""`/p/<project>/alerts`: alert rules, alerts that fire, silences, and the page of a rule."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from alerts import rules, silences
from alerts.backtest import run_backtest
from alerts.conditions.registry import ConditionKind
from alerts.models import AlertRule, AlertSilence, RuleKind
from alerts.rules import SERIES_KINDS, Editor, RuleFields
from frontend.page_query import DEADLINE_SECONDS, query_context
from frontend.pages.alerts.backtest_result import build_result
from frontend.pages.alerts.form import (
    RuleForm,
    SilenceForm,
    list_form_values,
    list_silence_choices,
)
from frontend.pages.alerts.view_model import (
    build_list,
    list_incidents,
    parse_rule,
    write_sentence,
)
from profiles.query import DeadlinePassed, InvalidQuery
from projects.access import membership
from projects.account_limits import LimitReached
from projects.audit import Origin
from projects.models import Deployment, Member, Project, Webhook
from projects.permissions import Permission, has_permission

_PREFILLED = ("name", "service", "type", "function")  # by parameters of the URL
_MAX_PREFILLED = 500  # characters


@require_safe
@never_cache
def list_alerts(request: HttpRequest, project_id: str) -> HttpResponse:
    member = membership(request.user, project_id)
    context = {
        "project": member.project,
        "here": "alerts",
        "list": build_list(member.project, timezone.now()),
        "may_manage": has_permission(member.role, Permission.CREATE_ALERTS),
        "durations": list_silence_choices(),
    }
    return render(request, "frontend/alerts/page.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new_rule(request: HttpRequest, project_id: str) -> HttpResponse:
    """Show the form of a kind of rule on GET, and create the rule or test it on POST."""
    member = membership(request.user, project_id)
    kind = _read_kind(request.GET.get("kind", ConditionKind.VALUE))
    services, webhooks = _list_services(member.project), _list_webhooks(member.project)
    if request.method != "POST":
        given = {name: request.GET.get(name, "")[:_MAX_PREFILLED] for name in _PREFILLED}
        initial = {name: value for name, value in given.items() if value}
        form = RuleForm(kind, services, webhooks, initial=_DEFAULTS[kind] | initial)
        return _render_rule(request, member, kind, form)
    form = RuleForm(kind, services, webhooks, request.POST)
    if form.is_valid() and not _wants_test(request):
        try:
            rule = rules.create_rule(
                member.project, form.read_fields(form.cleaned_data), editor=_editor(request, member)
            )
        except LimitReached as reached:
            form.add_error(None, str(reached))
        else:
            messages.success(request, _("Rule “%(name)s” created") % {"name": rule.name})
            return redirect("alert_rule", project_id, rule.rule_id)
    return _render_rule(request, member, kind, form)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def edit_rule(request: HttpRequest, project_id: str, rule_id: str) -> HttpResponse:
    """Show a rule with its incidents, and its test with `?test=1`; change or test it on POST."""
    member = membership(request.user, project_id)
    rule = _find_rule(member.project, rule_id)
    kind = ConditionKind(rule.kind)
    services, initial = _list_services(member.project), list_form_values(rule)
    webhooks = _list_webhooks(member.project)
    if request.method != "POST":
        form = RuleForm(kind, services, webhooks, initial=initial)
        return _render_rule(request, member, kind, form, rule)
    form = RuleForm(kind, services, webhooks, request.POST, initial)
    if form.is_valid() and not _wants_test(request):
        fields = form.read_fields(form.cleaned_data)
        rules.change_rule(rule, fields, editor=_editor(request, member))
        messages.success(request, _("Rule “%(name)s” saved") % {"name": fields.name})
        return redirect("alert_rule", project_id, rule_id)
    return _render_rule(request, member, kind, form, rule)


@require_POST
def change_rule(request: HttpRequest, project_id: str, rule_id: str, action: str) -> HttpResponse:
    """Pause, resume or delete a rule."""
    member = membership(request.user, project_id)
    rule, editor = _find_rule(member.project, rule_id), _editor(request, member)
    names = {"name": rule.name}
    match action:
        case "pause":
            rules.set_enabled(rule, False, editor=editor)
            messages.success(request, _("Rule “%(name)s” paused") % names)
        case "resume":
            rules.set_enabled(rule, True, editor=editor)
            messages.success(request, _("Rule “%(name)s” resumed") % names)
        case "delete":
            rules.delete_rule(rule, editor=editor)
            messages.success(request, _("Rule “%(name)s” deleted") % names)
            return redirect("alerts", project_id)
        case _:
            raise Http404
    return redirect("alert_rule", project_id, rule_id)


@require_POST
def create_silence(request: HttpRequest, project_id: str) -> HttpResponse:
    """Silence one rule, or all of the project."""
    member = membership(request.user, project_id)
    form = SilenceForm(request.POST)
    if not form.is_valid():
        messages.warning(request, _("Choose how long the silence lasts."))
        return redirect("alerts", project_id)
    name = form.cleaned_data["rule"]
    rule = _find_rule(member.project, name) if name else None
    silences.create(
        member.project,
        rule,
        now=timezone.now(),
        duration=form.duration,
        reason=form.cleaned_data["reason"],
        actor=member.user,
        origin=Origin.from_request(request),
    )
    messages.success(request, _("Silence added"))
    return redirect("alerts", project_id)


@require_POST
def end_silence(request: HttpRequest, project_id: str, pk: int) -> HttpResponse:
    member = membership(request.user, project_id)
    rows = AlertSilence.objects.filter(project=member.project, pk=pk)
    silence = rows.select_related("project", "rule").first()
    if silence is None:
        raise Http404
    silences.end(
        silence, now=timezone.now(), actor=member.user, origin=Origin.from_request(request)
    )
    messages.success(request, _("Silence ended"))
    return redirect("alerts", project_id)


_DEFAULTS: dict[ConditionKind, dict[str, object]] = {
    ConditionKind.VALUE: {"measure": "cores", "is_above": "above", "minutes": 30, "type": "CPU"},
    ConditionKind.AGAINST_LAST_WEEK: {
        "measure": "cores",
        "is_above": "above",
        "percent": 20,
        "minutes": 60,
        "type": "CPU",
    },
    ConditionKind.STOPPED_REPORTING: {"minutes": 30},
    ConditionKind.QUOTA: {"quota": "", "percent": 80},
    ConditionKind.FINDING: {"percent": 10},
}


def _render_rule(
    request: HttpRequest,
    member: Member,
    kind: ConditionKind,
    form: RuleForm,
    rule: AlertRule | None = None,
) -> HttpResponse:
    context: dict[str, object] = {
        "project": member.project,
        "here": "alerts",
        "form": form,
        "kind": kind,
        "kinds": RuleKind.choices,
        "kind_label": RuleKind(kind).label,
        "is_series": kind in SERIES_KINDS,
        "rule": rule,
        "may_manage": has_permission(member.role, Permission.CREATE_ALERTS),
        "durations": list_silence_choices(),
    }
    now = timezone.now()
    if rule is not None:
        context["sentence"] = write_sentence(rule)
        context["incidents"] = list_incidents(rule, now)
        context["is_silenced"] = rule.pk in silences.find_silenced_rules(member.project, now)
    if request.method == "POST" and form.is_valid():
        fields = form.read_fields(form.cleaned_data)
        context |= _run_test(request, _build_unsaved(member.project, fields))
    elif rule is not None and request.GET.get("test") == "1":
        context |= _run_test(request, rule)
    status = 400 if form.is_bound and form.errors else 200
    return render(request, "frontend/alerts/rule.html", context, status=status)


def _build_unsaved(project: Project, fields: RuleFields) -> AlertRule:
    return AlertRule(
        project=project,
        name=fields.name,
        kind=fields.kind,
        parameters=fields.require_valid(),
        service=fields.service,
        type=fields.type,
        function=fields.function,
    )


def _run_test(request: HttpRequest, rule: AlertRule) -> dict[str, object]:
    """Return the context of the test of a rule, which need not be stored."""
    condition = parse_rule(rule)
    if condition is None:
        return {}
    context = query_context(request, rule.project)
    try:
        test = run_backtest(context, rule, condition, timezone.now())
    except InvalidQuery as error:
        return {"test_error": str(error)}
    except DeadlinePassed:
        sentence = _("This test takes more than %(n)d s. Try again: what was read is cached.")
        return {"test_error": sentence % {"n": DEADLINE_SECONDS}}
    return {"test": build_result(rule, condition, test)}


def _find_rule(project: Project, rule_id: str) -> AlertRule:
    rule = rules.find_rule(project, rule_id)
    if rule is None:
        raise Http404
    rule.project = project
    return rule


def _list_services(project: Project) -> list[str]:
    rows = Deployment.objects.filter(project=project).order_by("service")
    return list(rows.values_list("service", flat=True).distinct())


def _list_webhooks(project: Project) -> list[tuple[str, str]]:
    """Return the ids and names."""
    rows = Webhook.objects.filter(project=project).order_by("name")
    return list(rows.values_list("webhook_id", "name"))


def _read_kind(text: str) -> ConditionKind:
    """Return the kind; raise Http404 for another text."""
    try:
        return ConditionKind(text)
    except ValueError:
        raise Http404 from None


def _wants_test(request: HttpRequest) -> bool:
    return request.POST.get("do") == "test"


def _editor(request: HttpRequest, member: Member) -> Editor:
    return Editor(member.user, origin=Origin.from_request(request))
