"""Form of a note at a time or at a function."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from frontend.params.time_field import TimeField
from projects.annotations import AnnotationFields, link_problem
from projects.models import Annotation
from projects.models.annotation import MAX_FUNCTION, MAX_LINK, MAX_TEXT


class NoteForm(forms.Form):
    """Fields of a note; those that its kind does not have are absent."""

    text = forms.CharField(
        label=gettext_lazy("Text"),
        max_length=MAX_TEXT,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    link = forms.CharField(
        label=gettext_lazy("Link"),
        max_length=MAX_LINK,
        required=False,
        help_text=gettext_lazy("Optional, https only: a build, an issue or a dashboard."),
        widget=forms.URLInput(),
    )
    at = TimeField(label=gettext_lazy("Time"), attributes={"step": "1"})
    function = forms.CharField(
        label=gettext_lazy("Function"),
        max_length=MAX_FUNCTION,
        help_text=gettext_lazy("Its full name, as flame graphs show it."),
    )
    service = forms.CharField(
        label=gettext_lazy("Service"),
        max_length=255,
        required=False,
        help_text=gettext_lazy("Leave empty to show the note for every service."),
    )
    version = forms.CharField(label=gettext_lazy("Version"), max_length=512, required=False)

    def __init__(self, *args: Any, of_function: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.of_function = of_function
        for name in ("at", "version") if of_function else ("function",):
            del self.fields[name]
        if of_function:
            self.fields["service"].required = True
            self.fields["service"].help_text = ""

    def clean_link(self) -> str:
        link = str(self.cleaned_data["link"])
        if problem := link_problem(link):
            raise forms.ValidationError(_("The link %(problem)s.") % {"problem": problem})
        return link

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("version") and not cleaned.get("service"):
            self.add_error("service", _("A version needs its service."))
        return cleaned

    @property
    def annotation(self) -> AnnotationFields:
        """Return the fields of a note; only for a form that is valid."""
        values = self.cleaned_data
        return AnnotationFields(
            text=values["text"],
            at=values.get("at"),
            service=values["service"],
            version=values.get("version", ""),
            function=values.get("function", ""),
            link=values["link"],
        )


def list_form_values(row: Annotation) -> dict[str, object]:
    """Return the initial values of the form of a stored note."""
    return {
        "text": row.text,
        "link": row.link,
        "at": row.at,
        "function": row.function,
        "service": row.service,
        "version": row.version,
    }
