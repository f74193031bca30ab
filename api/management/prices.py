"""`projects/{project}/prices`: currency, prices of an hour, factors of emissions."""

from api.management.call import BodyField, ProjectAction, ProjectCall, ProjectResource
from api.management.documents import PricesDocument
from endpoints.errors import BadField
from endpoints.json_message import Message, read_text
from projects.permissions import Permission
from projects.prices import MAX_PRICE, InvalidPrice, PriceList, change_prices, load_price_list

_NUMBER = {"type": "number", "minimum": 0, "maximum": MAX_PRICE}
_NULLABLE = {**_NUMBER, "type": ["number", "null"]}
_OPTIONAL = ("core_hour", "gib_hour")
_FACTORS = ("watts_per_core", "power_usage_effectiveness", "kg_co2_per_kwh")
_MAX_ZONE = 512  # characters of a name, as of a deployment


def _document(prices: PriceList) -> PricesDocument:
    return {
        "currency": prices.currency,
        "core_hour": prices.core_hour,
        "gib_hour": prices.gib_hour,
        "zones": dict(prices.zones),
        "watts_per_core": prices.watts_per_core,
        "power_usage_effectiveness": prices.power_usage_effectiveness,
        "kg_co2_per_kwh": prices.kg_co2_per_kwh,
    }


def _show(call: ProjectCall) -> PricesDocument:
    return _document(load_price_list(call.project.pk))


def _change(call: ProjectCall) -> PricesDocument:
    body = call.body
    values: dict[str, object] = {}
    if "currency" in body:
        values["currency"] = read_text(body, "currency", "currency")
    for name in (*_OPTIONAL, *_FACTORS):
        if name in body:
            values[name] = None if body[name] is None else _read_number(body[name], name)
    if "zones" in body:
        values["zones"] = _read_zones(body)
    try:
        prices = change_prices(call.project, values, actor=call.user, origin=call.origin)
    except InvalidPrice as error:
        raise BadField(error.name, str(error)) from None
    return _document(prices)


def _read_zones(body: Message) -> dict[str, float]:
    zones = body["zones"]
    if not isinstance(zones, dict):
        raise BadField("zones", "must be an object of prices by the names of zones")
    for zone in zones:
        if not 0 < len(zone) <= _MAX_ZONE:
            raise BadField("zones", f"has a name that is empty or longer than {_MAX_ZONE}")
    return {zone: _read_number(price, "zones") for zone, price in zones.items()}


def _read_number(value: object, name: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise BadField(name, f"must be a number from 0 to {MAX_PRICE:,.0f}")
    return float(value)


RESOURCES = (
    ProjectResource(
        "/prices",
        {
            "GET": ProjectAction("Show the prices", _show),
            "PATCH": ProjectAction(
                "Change the prices",
                _change,
                fields=(
                    BodyField("currency", "Three letters, for example EUR"),
                    BodyField("core_hour", "Price of a core-hour; null: not set", _NULLABLE),
                    BodyField("gib_hour", "Price of a GiB-hour; null: not set", _NULLABLE),
                    BodyField(
                        "zones",
                        "Prices of a core-hour by zone, where they differ; replaces all",
                        {"type": "object", "additionalProperties": _NUMBER},
                    ),
                    BodyField("watts_per_core", "Power of a core", _NUMBER),
                    BodyField(
                        "power_usage_effectiveness",
                        "Power of the data centre by that of its computers",
                        _NUMBER,
                    ),
                    BodyField("kg_co2_per_kwh", "Emissions of a kilowatt-hour", _NUMBER),
                ),
                permission=Permission.CHANGE_SETTINGS,
            ),
        },
    ),
)
