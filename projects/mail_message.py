"""E-mail as text and HTML, whose templates extend mail/base.html."""

from collections.abc import Mapping

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string


def render_message(
    name: str, context: Mapping[str, object], subject: str, recipient: str
) -> EmailMultiAlternatives:
    """Render the templates mail/<name>.txt and mail/<name>.html in the language of the caller."""
    message = EmailMultiAlternatives(
        settings.ACCOUNT_EMAIL_SUBJECT_PREFIX + " ".join(subject.split()),
        render_to_string(f"mail/{name}.txt", context),
        to=[recipient],
    )
    message.attach_alternative(render_to_string(f"mail/{name}.html", context), "text/html")
    return message
