"""Choice of a language, stored in a cookie."""

import pytest
from django.conf import settings
from django.test import Client

from tests.frontend.html import render_html

pytestmark = pytest.mark.django_db
ADDRESS = "/account/language"


def test_a_chosen_language_takes_precedence_over_the_browsers(client: Client) -> None:
    page = client.post(ADDRESS, {"language": "es"}, follow=True, headers={"Accept-Language": "en"})
    text = render_html(page)
    assert "Idioma guardado" in text
    assert '<option value="es" lang="es" selected>Español</option>' in text
    assert client.cookies[settings.LANGUAGE_COOKIE_NAME]["max-age"] == 365 * 24 * 3600
    again = client.get("/account/login/", headers={"Accept-Language": "en"}).content.decode()
    assert "Iniciar sesión" in again


def test_simplified_chinese_can_be_chosen(client: Client) -> None:
    text = render_html(client.post(ADDRESS, {"language": "zh-hans"}, follow=True))
    assert '<html lang="zh-Hans">' in text
    assert "语言已保存" in text
    assert '<option value="zh-hans" lang="zh-Hans" selected>简体中文</option>' in text


@pytest.mark.parametrize("accepted", ["zh", "zh-CN", "zh-Hans-CN", "zh-SG,en;q=0.5"])
def test_chinese_browser_gets_chinese_pages(client: Client, accepted: str) -> None:
    text = render_html(client.get("/account/login/", headers={"Accept-Language": accepted}))
    assert '<html lang="zh-Hans">' in text
    assert "登录" in text


def test_an_unknown_language_is_rejected(client: Client) -> None:
    assert client.post(ADDRESS, {"language": "tlh"}).status_code == 400
    assert settings.LANGUAGE_COOKIE_NAME not in client.cookies
