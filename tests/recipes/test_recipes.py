"""Recipes of pages, settings, limits, quotas, formats and languages, followed in a copy."""

import pytest

from tests.recipes.scratch_copy import ScratchCopy

pytestmark = pytest.mark.slow


def test_setting_needs_a_line_and_its_row_in_the_reference(copy: ScratchCopy) -> None:
    line = 'MAX_PARROTS = env.integer("FLAMEWATCH_MAX_PARROTS", 7, lowest=1)\n'
    copy.insert("profiler_site/settings.py", line, after='"FLAMEWATCH_MAX_LABEL_VALUES"')

    output = copy.test("tests/test_docs.py", "-k", "_setting", is_ok=False)
    assert "FLAMEWATCH_MAX_PARROTS" in output
    row = "| `FLAMEWATCH_MAX_PARROTS` | 7 | Parrots of a project |\n"
    copy.insert("docs/reference/settings.md", row, after="| `FLAMEWATCH_MAX_LABEL_VALUES`")
    copy.test("tests/test_docs.py", "-k", "_setting")

    show = "from django.conf import settings; print('parrots', settings.MAX_PARROTS)"
    assert "parrots 7" in copy.run_django(show)
    error = copy.run("manage.py", "check", is_ok=False, FLAMEWATCH_MAX_PARROTS="0")
    assert "FLAMEWATCH_MAX_PARROTS" in error
    names = {"FLAMEWATCH_MAX_PARROTS": "9", "FLAMEWATCH_MIN_PARROTS": "9"}
    error = copy.run("manage.py", "check", is_ok=False, **names)
    assert "FLAMEWATCH_MIN_PARROTS is no setting. Did you mean FLAMEWATCH_MAX_PARROTS?" in error
    copy.lint()


LIMIT_TEST = """
import pytest
from django.test import Client

from common import write_behind
from projects.usage import rejections
from projects.usage.rejections import RejectionReason
from projects.models import User
from projects.project_ids import create_project

pytestmark = pytest.mark.django_db(transaction=True)


def test_members_see_rejections_of_the_limit(client: Client) -> None:
    alice = User.objects.create_user("alice@example.org", "a long password")
    project = create_project("Acme Shop", alice)
    rejections.note(project.pk, RejectionReason.PARROTS)
    write_behind.write_now()
    client.force_login(alice)
    page = client.get(f"/p/{project.project_id}/settings/usage").content.decode()
    assert "Parrots in a cage" in page
"""


def test_limit_is_counted_and_shown_to_members(copy: ScratchCopy) -> None:
    module = "projects/usage/rejections.py"
    copy.insert(module, '    PARROTS = "parrots"\n', after="    UNREAD_RESPONSES =")
    label = '    RejectionReason.PARROTS: _("Parrots in a cage"),\n'
    copy.insert(module, label, after="RejectionReason.UNREAD_RESPONSES: _(")
    row = "| `parrots` | `MAX_PARROTS` |\n"
    copy.insert("docs/reference/settings.md", row, after="| `new_deployments` |")
    copy.write("tests/projects/usage/test_parrots.py", LIMIT_TEST)

    copy.test("tests/projects/usage/test_parrots.py", "--no-migrations")
    copy.run("manage.py", "makemigrations", "--check", "--dry-run")
    copy.lint()


QUOTA_TEST = """
import pytest
from django.contrib import admin

from projects.models import Quota
from projects.models.project import Project
from projects.usage import limits
from projects.models import User
from projects.project_ids import create_project

pytestmark = pytest.mark.django_db


def test_quota_overrides_the_built_in_value_and_is_in_the_admin(rf, admin_user) -> None:
    project = create_project("Acme Shop", User.objects.create_user("a@example.org", "x" * 12))
    assert limits.get_limits(project.pk).parrots == 7
    Quota.objects.create(project=project, parrots=9)
    limits.forget(project.pk)
    assert limits.get_limits(project.pk).parrots == 9
    request = rf.get("/")
    request.user = admin_user
    assert "parrots" in admin.site._registry[Quota].get_form(request).base_fields
"""


@pytest.mark.nightly
def test_quota_needs_a_name_a_value_a_field_and_a_migration(copy: ScratchCopy) -> None:
    limits = "projects/usage/limits.py"
    copy.insert(limits, '    PARROTS = "parrots"\n', after="    RETENTION_DAYS =")
    copy.insert(limits, "    parrots: int = 7\n", after="    retention_days: int")
    field = '    parrots = models.PositiveIntegerField(_("parrots"), null=True, blank=True)\n'
    copy.insert("projects/models/quota.py", field, after="    parked_handshakes = ")
    copy.write("tests/projects/usage/test_parrots.py", QUOTA_TEST)

    assert "parrots" in copy.run("manage.py", "makemigrations", "projects")
    copy.run("manage.py", "makemigrations", "--check", "--dry-run")
    copy.test("tests/projects/usage/test_parrots.py")
    copy.lint()


IMPORTER = '''"""Importer of counted names: lines of `COUNT NAME`."""

from ingest.formats.import_options import NO_OPTIONS, ImportOptions, choose_metric
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.pprof_builder import Frame, ProfileBuilder
from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import BadProfile
from projects.profile_types import ProfileType


def import_parrots(raw: bytes, options: ImportOptions = NO_OPTIONS) -> list[ImportedProfile]:
    type = options.type or ProfileType.CPU
    metric, _ = choose_metric(type, options.unit)
    budget = WorkBudget(len(raw))
    builder = ProfileBuilder([metric], budget)
    for number, line in enumerate(raw.decode().splitlines()[1:], 2):
        count, _, name = line.partition(" ")
        if not count.isdecimal():
            raise BadProfile(f"Line {number} has no count.")
        budget.spend(Work.FRAMES, 1)
        builder.add([builder.location(Frame(name))], [int(count)])
    return [ImportedProfile(type, builder.build())]
'''
IMPORT = """
from ingest.formats.detect import import_file
from ingest.formats.import_options import NO_OPTIONS
from profiles.engine.pprof.decode import DecodeLimits, decode_profile

converted = import_file(b"#parrots\\n3 polly\\n4 jack\\n", NO_OPTIONS, 10**6)
(profile,) = converted.profiles
decoded = decode_profile(profile.pprof, profile.type, DecodeLimits())
print(converted.format, *sorted(decoded.tree.self[0].tolist()))
"""


def test_profile_format_is_one_module_and_its_rows_in_detect(copy: ScratchCopy) -> None:
    detect = "ingest/formats/detect.py"
    copy.write("ingest/formats/parrots.py", IMPORTER)
    statement = "from ingest.formats.parrots import import_parrots\n"
    copy.insert(detect, statement, after="from ingest.formats.jfr.importer import")
    copy.insert(detect, '    PARROTS = "parrots"\n', after='    HEAP_PROFILE = "heapprofile"')
    copy.insert(
        detect, "    FileFormat.PARROTS: import_parrots,\n", after="FileFormat.HEAP_PROFILE:"
    )
    recognise = '    if raw.startswith(b"#parrots\\n"):\n        return FileFormat.PARROTS\n'
    copy.insert(detect, recognise, after="        return FileFormat.JFR")

    assert "parrots 3 4" in copy.run_django(IMPORT)
    copy.test("tests/test_imports.py", "-k", "contracts")
    copy.lint()


LANGUAGE_TEST = """
import pytest
from django.test import Client
from django.utils import translation

pytestmark = pytest.mark.django_db


def test_page_is_in_the_language_of_the_browser(client: Client) -> None:
    page = client.get("/account/login/", headers={"Accept-Language": "de"}).content.decode()
    assert '<html lang="de"' in page
    assert "Anmelden" in page
"""


def test_language_is_a_row_a_locale_and_a_catalog(copy: ScratchCopy) -> None:
    copy.replace(
        "profiler_site/settings.py", '("en", "English"),', '("en", "English"), ("de", "Deutsch"),'
    )
    copy.replace("Makefile", "LOCALES =", "LOCALES = --locale=de")
    copy.make("translations")
    catalog = copy.root / "frontend/locale/de/LC_MESSAGES/django.po"
    untranslated = 'msgid "Sign in"\nmsgstr ""'
    assert untranslated in catalog.read_text()
    catalog.write_text(
        catalog.read_text().replace(untranslated, 'msgid "Sign in"\nmsgstr "Anmelden"')
    )
    copy.make("translations")
    copy.write("tests/frontend/test_german.py", LANGUAGE_TEST)
    copy.test("tests/frontend/test_german.py", "--no-migrations")


VIEW = '''"""`/p/<project>/parrots`: the parrots of a project."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from frontend.pages.parrots.params import ParrotQuery
from frontend.params.url_parameter import read_parameters
from projects.access import membership


@require_safe
def parrots(request: HttpRequest, project_id: str) -> HttpResponse:
    member = membership(request.user, project_id)
    reader = LenientReader.from_query(request.GET)
    query = read_parameters(ParrotQuery, reader)
    context = {"project": member.project, "here": "parrots", "query": query}
    return render(request, "frontend/parrots/page.html", context)
'''
PARAMS = '''"""URL parameters of the page of parrots."""

from dataclasses import dataclass

from endpoints.params import parameter
from frontend.params.url_parameter import url_parameter

PLUMAGE = parameter.text("plumage", "Plumage of the parrots")


@dataclass(frozen=True, slots=True)
class ParrotQuery:
    plumage: str = url_parameter(PLUMAGE)
'''
TEMPLATE = """{% extends "frontend/base.html" %}
{% load i18n %}
{% block title %}
  {% translate "Services" %} · {{ project.name }}
{% endblock %}
{% block main %}
  <div class="page stack">
    <div class="head">
      <h1>{% translate "Services" %}</h1>
    </div>
    <p class="muted">{{ query.plumage }}</p>
  </div>
{% endblock %}
"""
LINK = """  <a {% page_link "parrots" project.project_id %}>
    {% translate "Services" %}
  </a>
"""


@pytest.mark.nightly
def test_page_is_a_folder_a_url_a_link_and_a_row(copy: ScratchCopy) -> None:
    copy.write("frontend/pages/parrots/view.py", VIEW)
    copy.write("frontend/pages/parrots/params.py", PARAMS)
    copy.write("frontend/templates/frontend/parrots/page.html", TEMPLATE)
    nav = "frontend/templates/frontend/parts/nav.html"
    copy.insert(nav, LINK, after='<nav class="nav"')
    statement = "from frontend.pages.parrots import view as parrots\n"
    copy.insert(
        "frontend/urls.py", statement, after="from frontend.pages.notifications import view"
    )
    url = '    project_page("/parrots", parrots.parrots, "parrots", Permission.VIEW),\n'
    copy.insert("frontend/urls.py", url, after='    project_page("/services"')
    row = '    Shown("parrots", "parrots", f"{P}/parrots?plumage=red"),\n'
    copy.insert(
        "tests/test_urls.py",
        '    Page("parrots", For.VIEWERS, (PROJECT,)),\n',
        after='    Page("services"',
    )
    copy.insert("tests/frontend/every_page.py", row, after='    Shown("services", "services"')

    output = copy.test("tests/test_docs.py", "-k", "parameter", is_ok=False)
    assert "plumage" in output
    documented = "| `/p/{project}/parrots` | Parrots, of the plumage `plumage` |\n"
    copy.insert("docs/reference/urls.md", documented, after="| `/p/{project}/services` |")
    copy.test("tests/test_docs.py", "-k", "parameter")
    copy.test("tests/test_imports.py", "-k", "contracts")
    copy.test("--no-migrations", "tests/test_urls.py", "-k", "parrots or every_address")
    copy.test("--no-migrations", "tests/frontend/test_every_page.py", "-k", "small or reader")
    copy.lint()
