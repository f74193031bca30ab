"""`/account/editor` and `/account/language`: links to the user's editor, language of the pages."""

from typing import cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from projects.models import User
from projects.source_templates import (
    EDITOR_SCHEMES,
    MAX_PATTERN,
    InvalidLinkTemplate,
    check_editor_pattern,
)

EXAMPLES = (
    ("VS Code", "vscode://file/home/me/{project}/{path}:{line}"),
    ("Cursor", "cursor://file/home/me/{project}/{path}:{line}"),
    ("Zed", "zed://file/home/me/{project}/{path}:{line}"),
    ("IntelliJ IDEA", "idea://open?file=/home/me/{project}/{path}&line={line}"),
    ("PyCharm", "pycharm://open?file=/home/me/{project}/{path}&line={line}"),
    ("Sublime Text", "subl://open?url=file:///home/me/{project}/{path}&line={line}"),
    ("TextMate", "txmt://open?url=file:///home/me/{project}/{path}&line={line}"),
)


class EditorForm(forms.Form):
    editor_url = forms.CharField(
        label=gettext_lazy("Editor link template"),
        max_length=MAX_PATTERN,
        required=False,
        help_text=gettext_lazy("Leave empty for no links to an editor."),
    )

    def clean_editor_url(self) -> str:
        pattern = str(self.cleaned_data["editor_url"])
        if pattern:
            try:
                check_editor_pattern(pattern)
            except InvalidLinkTemplate as error:
                raise forms.ValidationError(str(error)) from error
        return pattern


@require_http_methods(["GET", "HEAD", "POST"])
def editor(request: HttpRequest) -> HttpResponse:
    """Show the user's template; a POST validates and stores it."""
    user = cast("User", request.user)
    posted = request.POST if request.method == "POST" else None
    form = EditorForm(posted, initial={"editor_url": user.editor_url})
    if posted is not None and form.is_valid():
        user.editor_url = form.cleaned_data["editor_url"]
        user.save(update_fields=["editor_url"])
        messages.success(request, _("Editor link template saved"))
        return redirect("editor")
    values = {"form": form, "examples": EXAMPLES, "schemes": ", ".join(EDITOR_SCHEMES)}
    status = 400 if form.errors else 200
    return render(request, "frontend/account/editor.html", values, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def language(request: HttpRequest) -> HttpResponse:
    """Show the languages; a POST stores the chosen one for a year."""
    if request.method != "POST":
        return render(request, "frontend/account/language.html", {"languages": settings.LANGUAGES})
    chosen = request.POST.get("language", "")
    if chosen not in dict(settings.LANGUAGES):
        return HttpResponseBadRequest(_("This language is not available."))
    with translation.override(chosen):
        messages.success(request, _("Language saved"))
    response = redirect("language")
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        chosen,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        path=settings.LANGUAGE_COOKIE_PATH,
        secure=settings.LANGUAGE_COOKIE_SECURE,
        httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
        samesite="Lax",
    )
    return response
