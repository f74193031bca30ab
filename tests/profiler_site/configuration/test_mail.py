"""URL of the mail server."""

import pytest

from profiler_site.configuration.env import BadSetting
from profiler_site.configuration.mail import MailServer, parse


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://localhost", MailServer("localhost", 25)),
        ("smtp+tls://mail.example.org", MailServer("mail.example.org", 587, starttls=True)),
        (
            "smtps://me%40example.org:p%3Aw@mail.example.org:1465",
            MailServer("mail.example.org", 1465, "me@example.org", "p:w", tls=True),
        ),
    ],
)
def test_mail_url_gives_host_port_user_and_encryption(url: str, server: MailServer) -> None:
    assert parse(url) == server


@pytest.mark.parametrize(
    "url", ["mail.example.org", "http://u:hush@h", "smtp://", "smtp://u:hush@h:x", "smtp://h:99999"]
)
def test_a_bad_url_is_reported_without_the_password(url: str) -> None:
    with pytest.raises(BadSetting, match="FLAMEWATCH_SMTP_URL is invalid") as bad:
        parse(url)
    assert "hush" not in str(bad.value)
