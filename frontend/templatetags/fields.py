"""`{% field form.name %}`: one control of a form with its label, help and errors."""

from django import template
from django.forms import BaseForm, BoundField, CheckboxInput

register = template.Library()


@register.inclusion_tag("frontend/parts/field.html")
def field(
    bound: BoundField, label: str | None = None, help: str | None = None, **attributes: str
) -> dict[str, object]:
    """The field; other words for label and help; what else is given is put onto its control.

    `hx_get="…"` gives the attribute hx-get.
    """
    attrs: dict[str, str | bool] = {k.replace("_", "-"): v for k, v in attributes.items()}
    help_text = bound.help_text if help is None else help
    note = f"{bound.auto_id}-note"
    if bound.errors:
        attrs["aria-invalid"] = "true"
    if bound.errors or help_text:
        attrs["aria-describedby"] = note
    # A placeholder goes when one types: the label says what belongs there.
    bound.field.widget.attrs.pop("placeholder", None)
    return {
        "field": bound,
        "label": label or bound.label,
        "help": help_text,
        "note": note,
        "control": bound.as_widget(attrs=attrs),
        "is_switch": isinstance(bound.field.widget, CheckboxInput),
    }


@register.inclusion_tag("frontend/parts/errors.html")
def form_errors(form: BaseForm) -> dict[str, object]:
    """What is wrong with the form as a whole."""
    return {"errors": form.non_field_errors()}
