"""Exercise every control of a page once, and check the URL that it leads to."""

import json
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page

Parameters = dict[str, list[str]]

# Parameters that a change removes, per docs/reference/urls.md; the second side has its own.
RANGE = {"from", "to"}
OF_TYPE = {"metric", "weight", "weights", "profile", "root", "frame", "page"}
OF_VIEW = {"root", "frame"}
DEPENDENTS: Mapping[str, set[str]] = {
    "service": {"type", "zone", "version", "label.", "focus", "view", "function", "top"}
    | {"b.zone", "b.version", "b.weight", "b.weights"}
    | OF_TYPE,
    "type": {"b.weight", "b.weights"} | OF_TYPE,
    "span": {"step", "pick_from", "pick_to", "page"} | RANGE,
    "end": {"pick_from", "pick_to", "page"} | RANGE,
    "zone": {"page"},
    "version": {"page"},
    "label.": {"page"},
    "weight": {"page"},
    "weights": {"page"},
    "pick_from": {"page"},
    "order": {"page"},
    "view": {"focus"} | OF_VIEW,
    "focus": {"view"} | OF_VIEW,
    "root": {"frame"},
    "function": {"top"},
    "top": {"function"},
}
MOVING = ("from:", "hideframes:")  # filters that change the ids of frames

# The page does not navigate: the new URL is read, and the previous one is restored.
USE = """() => {
    const before = location.href;
    const found = [];
    let went = '';
    navigation.addEventListener('navigate', (event) => {
        if (event.destination.sameDocument) return;
        went = event.destination.url;
        event.preventDefault();
    });
    const use = (kind, name, values, act) => {
        went = '';
        act();
        found.push([kind, name, values, went || location.href]);
        history.replaceState(null, '', before);
        dispatchEvent(new PageTransitionEvent('pageshow'));
    };
    const change = (field) => field.dispatchEvent(new Event('change', { bubbles: true }));
    for (const form of document.querySelectorAll('form[data-address]')) {
        for (const field of [...form.elements]) {
            const name = field.name;
            if (!name || ['f.option', 'f.value', 'function', 'search'].includes(name)) continue;
            if (field instanceof HTMLSelectElement) {
                const other = [...field.options].find((option) => !option.selected);
                if (!other) continue;
                use('field', name, [other.value], () => {
                    field.value = other.value;
                    change(field);
                });
                field.value = [...field.options].find((option) => option.defaultSelected)?.value;
            } else if (field.type === 'checkbox') {
                use('field', name, field.checked ? [] : [field.value], () => field.click());
            } else if (field.type === 'text') {
                use('text', name, ['typed'], () => { field.value = 'typed'; change(field); });
                field.value = field.defaultValue;
            }
        }
    }
    for (const link of document.querySelectorAll('a[data-changes]')) {
        use('link', link.textContent.trim(), JSON.parse(link.dataset.changes), () => link.click());
    }
    for (const chip of document.querySelectorAll('.chip[data-filter]')) {
        use('chip', 'f', [chip.dataset.filter], () => chip.querySelector(':scope > a').click());
    }
    return found;
}"""


class Use(NamedTuple):
    kind: str
    name: str
    values: list[str]
    address: str

    def changes(self, before: Parameters) -> dict[str, list[str] | None]:
        """Return the parameters that the control should change; None accepts any value."""
        if self.kind == "link":
            return {name: [v for v in values if v] for name, values in json.loads(str_of(self))}
        if self.kind == "chip":
            rest = [*before.get("f", [])]
            rest.remove(self.values[0])
            return {"f": rest}
        name = self.name.removesuffix("at") + "end" if self.name.endswith("at") else self.name
        if name.startswith("label."):
            return {name: None}
        empty = self.values == [""] or (name, self.values) == ("end", ["now"])
        return {name: [] if empty and not name.startswith("b.") else self.values}


def str_of(use: Use) -> str:
    return json.dumps(use.values)


def used(page: Page) -> list[Use]:
    return [Use(*each) for each in page.evaluate(USE)]


def parameters(address: str) -> Parameters:
    return parse_qs(urlsplit(address).query, keep_blank_values=True)


def check(use: Use, before: Parameters) -> None:
    """Fail if a control changed fewer or more than its parameters and their dependents."""
    after = parameters(use.address)
    changes = use.changes(before)
    removed = {name for changed in changes for name in _dependents(changed)}
    if _moving(before.get("f", [])) != _moving(after.get("f", [])):
        removed |= OF_VIEW
    settled = _fix_sides(changes, before)
    for name in before.keys() | after.keys():
        found, was = after.get(name, []), before.get(name, [])
        if name in changes:
            expected = changes[name]
            assert expected is None or found == expected, (use, name, found)
        elif name in settled:
            assert found, (use, name)
        elif name in removed or (name.startswith("label.") and "label." in removed):
            assert not found, (use, name, found)
        else:
            assert found == was, (use, name, was, found)


def _dependents(name: str) -> set[str]:
    side = "b." if name.startswith("b.") else ""
    own = name.removeprefix(side)
    found = DEPENDENTS.get("label." if own.startswith("label.") else own, set())
    return {side + each for each in found}


def _moving(filters: list[str]) -> list[str]:
    return [each for each in filters if each.startswith(MOVING)]


def _fix_sides(changes: Mapping[str, object], before: Parameters) -> set[str]:
    """Return the parameters that replace `from` and `to` after one half of the range changed."""
    found = set()
    if any(name.startswith("b.") for name in changes) and not any(
        name.startswith("b.") for name in before
    ):
        found.add("b.end")
    for name, other in (("span", "end"), ("end", "span")):
        if name in changes and "from" in before:
            found.add(other)
    return found - set(changes)
