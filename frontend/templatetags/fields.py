"""Template tags for form controls with label, help and errors: `{% field form.name %}`."""

from django import template
from django.forms import BaseForm, BoundField, CheckboxInput

register = template.Library()


@register.inclusion_tag("frontend/parts/field.html")
def field(
    bound: BoundField, label: str | None = None, help: str | None = None, **attributes: str
) -> dict[str, object]:
    """Render a field; `label` and `help` override its texts, further arguments are attributes.

    `hx_get="…"` sets the attribute hx-get of the control.
    """
    attrs: dict[str, str | bool] = {k.replace("_", "-"): v for k, v in attributes.items()}
    help_text = bound.help_text if help is None else help
    note = f"{bound.auto_id}-note"
    if bound.errors:
        attrs["aria-invalid"] = "true"
    if bound.errors or help_text:
        attrs["aria-describedby"] = note
    # A placeholder vanishes while typing: the label has to name the content.
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
    """Render the errors that belong to no field."""
    return {"errors": form.non_field_errors()}
