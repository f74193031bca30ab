"""`GET /api/v1/openapi.json`: the contract of the API, for everybody."""

from functools import cache

import orjson
from django.http import HttpRequest, HttpResponse

from api.contract.openapi import build_contract
from endpoints.api_view import WireView


class ContractView(WireView):
    http_method_names = ["get"]

    async def get(self, request: HttpRequest) -> HttpResponse:
        response = HttpResponse(_contract_json(), content_type="application/json")
        response["Cache-Control"] = "public, max-age=300"
        return response


@cache
def _contract_json() -> bytes:
    return orjson.dumps(build_contract())
