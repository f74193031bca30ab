"""Catalogs of all languages are complete, and each visitor gets the language of their choice."""

import html
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from gettext import GNUTranslations
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.utils import formats, timezone, translation

from projects.models import Project, User
from tests import services
from tests.frontend.every_page import PAGES, STATES, P, furnish
from tests.paths import ROOT

pytestmark = pytest.mark.one_database

LANGUAGES = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
CATALOGS = {
    code: ROOT / "frontend" / "locale" / translation.to_locale(code) / "LC_MESSAGES" / "django.po"
    for code in LANGUAGES
}
APPS = ("api", "common", "endpoints", "frontend", "ingest", "profiler_site", "profiles")
SOURCES = ("alerts", "findings", "insights", *APPS, "projects", "scheduler")
SPANISH = {"Accept-Language": "es-MX,es;q=0.9,en;q=0.1"}
CHINESE = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.1"}
ENGLISH = {"Accept-Language": "en-GB,en;q=0.9"}
HTML_LANGUAGES = {"es": "es", "zh-hans": "zh-Hans"}
DATE_FILTER = re.compile(r"\|date:[\"']([^\"']*)[\"']")
NAMES_OF_DAYS_AND_MONTHS = re.compile(r"(?<!\\)[DlMFNjn]")
# By language: texts that are not in the style that the head of its catalog asks for.
OTHER_STYLES = {
    "es": re.compile(  # formal: usted, or such an imperative at the beginning of a sentence
        r"\b[Uu]sted\b|(?:^|[.:] )(?:Abra|Añada|Cambie|Cree|Elija|Elimine|Escriba|Espere|Haga"
        r"|Indique|Inicie|Introduzca|Pida|Revoque|Seleccione|Solicite|Suba|Use|Verifique|Vuelva)\b"
    ),
    "zh-hans": re.compile(r"[\u4e00-\u9fff][:;,!?]|[:;,!?]\s?[\u4e00-\u9fff]"),  # half width
}
PLACEHOLDER = re.compile(r"%\(\w+\)(?:\.\d+)?\w|\{[\w-]*\}|%%|</?code>")


@pytest.fixture(autouse=True)
def english_afterwards() -> Iterator[None]:
    yield
    translation.deactivate()


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a catalog template with all texts that the sources mark for translation."""
    folder = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        ignored = shutil.ignore_patterns("static", "*.mo", "*.so", "*.c", "__pycache__", "locale")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    (folder / "locale").mkdir()
    services.find("xgettext")
    subprocess.run(
        [sys.executable, "-m", "django", "makemessages", "--keep-pot", "--locale=es"],
        cwd=folder,
        env={name: text for name, text in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"},
        check=True,
        capture_output=True,
    )
    return folder / "locale" / "django.pot"


@pytest.fixture(params=LANGUAGES)
def catalog(request: pytest.FixtureRequest) -> Path:
    """Return each language's catalog in turn."""
    return CATALOGS[request.param]


def test_every_text_is_translated(catalog: Path, template: Path) -> None:
    done = subprocess.run(
        [services.find("msgcmp"), catalog, template], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_catalog_has_no_obsolete_texts(catalog: Path, template: Path) -> None:
    done = subprocess.run(
        [services.find("msgcmp"), "--use-untranslated", template, catalog],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_compiled_catalog_equals_its_source(catalog: Path, tmp_path: Path) -> None:
    compiled = tmp_path / "django.mo"
    subprocess.run([services.find("msgfmt"), "--check-format", "-o", compiled, catalog], check=True)
    assert texts(compiled) == texts(catalog.with_suffix(".mo"))


def test_translations_have_the_placeholders_of_their_texts(catalog: Path) -> None:
    different = []
    for key, text in texts(catalog.with_suffix(".mo")).items():
        original = key[0] if isinstance(key, tuple) else key
        expected, found = (set(PLACEHOLDER.findall(each)) for each in (original, text))
        # A singular may leave its number out; the plural, or the only form of a language, has it.
        plural = isinstance(key, tuple)
        if found != expected and not (plural and found > expected):
            different.append((original, text))
    assert different == []


@pytest.mark.parametrize("language", OTHER_STYLES)
def test_translations_have_one_style(language: str) -> None:
    found = texts(CATALOGS[language].with_suffix(".mo")).values()
    assert [text for text in found if OTHER_STYLES[language].search(text)] == []


def texts(compiled: Path) -> dict[str | tuple[str, int], str]:
    with compiled.open("rb") as file:
        catalog = GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    return {key: text for key, text in catalog.items() if key}


def english_texts(language: str) -> list[str]:
    """Return the texts without placeholders that differ in a language, as sentences of pages."""
    return [
        key
        for key, text in texts(CATALOGS[language].with_suffix(".mo")).items()
        if isinstance(key, str) and " " in key.strip() and key != text
        if not PLACEHOLDER.search(key) and "\x04" not in key
    ]


@pytest.fixture
def alices(client: Client, alice: User, project: Project) -> Client:
    furnish(project, alice, timezone.now())
    client.force_login(alice)
    return client


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_is_translated(alices: Client, language: str) -> None:
    english = english_texts(language)
    found = {}
    for shown in (*PAGES, *STATES):
        visitor = Client() if shown.stranger else alices
        response = visitor.get(shown.address, headers={"Accept-Language": language} | shown.headers)
        page = html.unescape(response.content.decode())
        assert f'<html lang="{HTML_LANGUAGES[language]}">' in page, shown
        sentences = visible(page)
        left = [text for text in english if text in sentences]
        if left:
            found[str(shown)] = left
    assert found == {}


def visible(page: str) -> str:
    """Return the page without names of data."""
    return " ".join(re.sub(r"(value|href)=\"[^\"]*\"", "", page).split())


@pytest.mark.django_db
def test_two_members_of_a_project_get_their_own_languages(alices: Client, bob: User) -> None:
    address = f"{P}/flame?service=checkout&type=CPU&span=1d"
    bobs = Client(headers=ENGLISH)
    bobs.force_login(bob)
    for _ in range(2):
        assert "Gráfico de llamas" in alices.get(address, headers=SPANISH).content.decode()
        assert "火焰图" in alices.get(address, headers=CHINESE).content.decode()
        english = bobs.get(address).content.decode()
        assert "Flame graph" in english
        assert "Gráfico" not in english


@pytest.mark.django_db
def test_caches_keep_languages_apart(client: Client) -> None:
    varying = client.get("/account/login/", headers=SPANISH).headers["Vary"]
    assert {"Accept-Language", "Cookie"} <= {each.strip() for each in varying.split(",")}


@pytest.mark.django_db
def test_a_language_ends_with_its_request(client: Client) -> None:
    assert "Iniciar sesión" in client.get("/account/login/", headers=SPANISH).content.decode()
    assert translation.get_language() == "en"


@pytest.mark.django_db
def test_a_browser_in_another_language_gets_english(client: Client) -> None:
    page = client.get("/account/login/", headers={"Accept-Language": "de,fr;q=0.5"})
    assert '<html lang="en">' in page.content.decode()


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_have_a_decimal_point_in_all_languages(language: str) -> None:
    with translation.override(language):
        assert formats.localize(1234.5) == "1234.5"


def test_plural_forms_follow_each_language() -> None:
    found = {}
    for language in LANGUAGES:
        with translation.override(language):
            found[language] = [
                translation.ngettext("%(n)d hour", "%(n)d hours", n) % {"n": n} for n in (0, 1, 2)
            ]
    assert found == {
        "es": ["0 horas", "1 hora", "2 horas"],
        "zh-hans": ["0 小时", "1 小时", "2 小时"],
    }


def test_date_formats_follow_each_language() -> None:
    at = datetime(2026, 11, 3, 7, 5, 9, tzinfo=UTC)
    names = ("DAY", "MINUTE", "WEEKDAY", "WEEKDAY_SECOND")
    found = {}
    for language in ("en", *LANGUAGES):
        with translation.override(language):
            found[language] = [formats.date_format(at, f"{name}_FORMAT") for name in names]
    assert found == {
        "en": ["3 Nov 2026", "3 Nov, 07:05", "Tue 3", "Tue 3 Nov, 07:05:09"],
        "es": ["3 Nov 2026", "3 Nov, 07:05", "mar 3", "mar 3 Nov, 07:05:09"],
        "zh-hans": ["2026年11月3日", "11月3日 07:05", "3日星期二", "11月3日星期二 07:05:09"],
    }


def test_templates_name_their_date_formats() -> None:
    """A format with days and months is a name of profiler_site/formats, which orders its parts."""
    used = {
        (path.name, form)
        for path in (ROOT / "frontend" / "templates").rglob("*.html")
        for form in DATE_FILTER.findall(path.read_text())
    }
    wrong = [
        (name, form)
        for name, form in used
        if not form.endswith("_FORMAT") and NAMES_OF_DAYS_AND_MONTHS.search(form)
    ]
    assert used
    assert wrong == []
